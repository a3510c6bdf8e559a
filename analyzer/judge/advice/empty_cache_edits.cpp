// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/empty_cache_edits.h"

#include <utility>

namespace memtrace::advice {

namespace {

using allocator::action;
using allocator::request;

// The requests of a log that is made anew, from its old ones in their order.
class rebuilding {
 public:
  explicit rebuilding(allocator::request_log& log) : log_(log) {
    requests_.reserve(log.requests.size());
    events_.reserve(log.requests.size());
  }
  void add(const request& what, std::uint64_t event) {
    if (what.what() == action::allocate && what.block < log_.allocations.size()) {
      log_.allocations[what.block] = static_cast<std::uint32_t>(requests_.size());
    }
    requests_.push_back(what);
    events_.push_back(event);
  }
  void finish() {
    log_.requests = std::move(requests_);
    log_.events = std::move(events_);
    log_.answers.reset();
  }

 private:
  allocator::request_log& log_;
  allocator::request_list requests_;
  allocator::event_list events_;
};

}  // namespace

void remove_empty_cache(allocator::request_log& log) {
  rebuilding made(log);
  for (std::size_t i = 0; i < log.requests.size(); ++i) {
    if (log.requests[i].what() != action::empty_cache) made.add(log.requests[i], log.events[i]);
  }
  made.finish();
}

void add_empty_cache(allocator::request_log& log, const std::vector<std::uint64_t>& before) {
  request flush;
  flush.set_what(action::empty_cache);
  rebuilding made(log);
  std::size_t next = 0;
  for (std::size_t i = 0; i < log.requests.size(); ++i) {
    for (; next < before.size() && before[next] <= log.events[i]; ++next) {
      made.add(flush, log.events[i]);
    }
    made.add(log.requests[i], log.events[i]);
  }
  made.finish();
}

}  // namespace memtrace::advice
