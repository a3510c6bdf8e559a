// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/imagined_driver.h"
#include "analyzer/model/allocator/recorded_driver.h"
#include "analyzer/model/allocator/request_replayer.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

namespace {

using look_t = std::function<void(std::uint32_t, const layout&)>;

template <class Before>
void look_during(const request_log& log, const scenario& under, driver& answers,
                 const std::vector<std::uint32_t>& requests, const look_t& look,
                 const Before& before) {
  request_replayer run(log, under, answers);
  std::size_t i = 0;
  for (const auto wanted : requests) {
    if (wanted >= log.requests.size()) return;
    for (; i <= wanted; ++i) {
      before(static_cast<std::uint32_t>(i));
      (void)run.step(log.requests[i]);
    }
    look(wanted, run.state().map_of_heap());
  }
}

}  // namespace

void show_layouts(const request_log& log, const scenario& under,
                  const std::vector<std::uint32_t>& requests, const look_t& look) {
  imagined_driver answers(under.usable_bytes != 0 ? under.usable_bytes : under.total_bytes,
                          under.addresses, under.seed);
  look_during(log, under, answers, requests, look, [](std::uint32_t) {});
}

void show_recorded_layouts(const request_log& log, const std::vector<std::uint32_t>& requests,
                           const look_t& look) {
  const auto under = as_recorded(log);
  if (log.answers == nullptr) {
    show_layouts(log, under, requests, look);
    return;
  }
  recorded_driver answers(*log.answers);
  look_during(log, under, answers, requests, look,
              [&](std::uint32_t request) { answers.begin(request); });
}

}  // namespace memtrace::allocator
