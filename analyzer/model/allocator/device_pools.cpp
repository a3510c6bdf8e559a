// SPDX-License-Identifier: Apache-2.0
//
// Private pools in a recording. The recording may begin after a pool was made or begun: what is
// missing then follows from what comes later.
#include "analyzer/model/allocator/device_compiler.h"

namespace memtrace::allocator {

void device_compiler::pool_operation(std::uint64_t event, const trace::operation_event& done,
                                     std::uint16_t pool) {
  auto& history = pools_[pool];
  const auto add_one = [&](action what, std::uint64_t size = 0) { add(what, event, pool, size); };
  switch (static_cast<format::operation>(done.operation)) {
    case format::operation::pool_create:
      history.made = true;
      add_one(action::pool_create, done.text == "allocator" ? 1 : 0);
      break;
    case format::operation::pool_begin:
      begin_pool(event, pool);
      break;
    case format::operation::pool_end:
      if (history.open == 0) return;
      --history.open;
      add_one(action::pool_end);
      history.requests_at_end = log_.requests.size();
      break;
    case format::operation::pool_release:
      // torch.cuda.use_mem_pool releases what it began as soon as it ends; of a graph's pool, which
      // nobody makes beforehand, the release comes with the graph's end.
      if (!history.made && history.was_begun && history.requests_at_end == log_.requests.size()) {
        history.made = true;
        request first = log_.requests[history.first_begin];
        first.size = 1;
        log_.requests.set(history.first_begin, first);
      }
      add_one(action::pool_release);
      break;
    case format::operation::pool_no_split:
      add_one(action::pool_no_split);
      break;
    case format::operation::pool_use_on_oom:
      history.serves_others = done.text == "on";
      add_one(action::pool_use_on_oom, history.serves_others ? 1 : 0);
      break;
    default:
      break;
  }
}

void device_compiler::begin_pool(std::uint64_t event, std::uint16_t pool) {
  auto& history = pools_[pool];
  if (!history.was_begun) {
    history.was_begun = true;
    history.first_begin = static_cast<std::uint32_t>(log_.requests.size());
  }
  ++history.open;
  add(action::pool_begin, event, pool);
}

// The pool that an allocation went to, which may have been begun before the recording.
std::uint16_t device_compiler::asked_pool(std::uint64_t event, const trace::pool_id& id) {
  const auto pool = pool_of(id);
  if (pool == 0 || pools_[pool].open != 0) return pool;
  if (pools_[pool].serves_others) return 0;
  begin_pool(event, pool);
  return pool;
}

}  // namespace memtrace::allocator
