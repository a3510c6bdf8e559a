// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/exactness.h"

#include <utility>

#include "analyzer/model/allocator/peak_watch.h"
#include "analyzer/model/allocator/recorded_driver.h"
#include "analyzer/model/allocator/request_replayer.h"

namespace memtrace::allocator {

namespace {

class comparison {
 public:
  explicit comparison(const request_log& log)
      : log_(log), under_(as_recorded(log)), driver_(*log.answers), run_(log, under_, driver_) {}

  [[nodiscard]] exactness run() {
    for (std::uint32_t i = 0; i < log_.requests.size() && !found_.first; ++i) step(i);
    found_.events += driver_.compared();
    found_.replayed.retries = run_.state().retries();
    found_.replayed.calls = run_.state().calls();
    found_.replayed.reserved_at_end = run_.state().reserved();
    found_.exact = !found_.first.has_value() && log_.doubts.empty();
    return std::move(found_);
  }

 private:
  void step(std::uint32_t i) {
    driver_.begin(i);
    const auto& asked = log_.requests[i];
    const auto done = run_.step(asked);
    driver_.end();
    found_.replayed.requests = i + 1;
    if (asked.what() == action::allocate) watch_.look(run_.state(), i);
    if (driver_.first_difference()) {
      found_.first = driver_.first_difference();
      if (found_.first->event == 0) found_.first->event = log_.events[i];
      return;
    }
    ++found_.events;
    if (asked.what() == action::allocate) compare_block(i, asked, done);
    if (asked.what() == action::complete && done.completed != (asked.size == 0)) {
      differ(i, "deferred free that the allocator waited for", asked.size, done.completed ? 0 : 1);
    }
    compare_totals(i);
  }

  void compare_block(std::uint32_t i, const request& asked,
                     const request_replayer::step_result& done) {
    const auto recorded = log_.addresses[asked.block];
    const auto replayed = done.placed ? done.placed->address : 0;
    if (recorded == replayed) return;
    differ(i, recorded == 0 || replayed == 0 ? "out of memory" : "address of the block", recorded,
           replayed);
  }

  void compare_totals(std::uint32_t i) {
    const auto& told = *log_.answers;
    for (; next_reserved_ < told.reserved.size() && told.reserved[next_reserved_].request <= i;
         ++next_reserved_) {
      reserved_ = told.reserved[next_reserved_].bytes;
    }
    if (told.allocated[i] == recorded_answers::not_told) return;
    ++found_.compared_totals;
    if (told.allocated[i] != run_.state().allocated()) {
      differ(i, "allocated bytes", told.allocated[i], run_.state().allocated());
    } else if (reserved_ != run_.state().reserved()) {
      differ(i, "reserved bytes", reserved_, run_.state().reserved());
    }
  }

  void differ(std::uint32_t i, const char* what, std::uint64_t recorded, std::uint64_t replayed) {
    if (!found_.first) found_.first = difference{log_.events[i], what, recorded, replayed};
  }

  const request_log& log_;
  scenario under_;
  recorded_driver driver_;
  request_replayer run_;
  exactness found_;
  peak_watch watch_{log_, found_.replayed};
  std::size_t next_reserved_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace

exactness compare_with_recording(const request_log& log) {
  // Answers to other requests than these, as after a rewriting, tell nothing.
  if (log.answers == nullptr || log.answers->allocated.size() != log.requests.size()) return {};
  return comparison(log).run();
}

}  // namespace memtrace::allocator
