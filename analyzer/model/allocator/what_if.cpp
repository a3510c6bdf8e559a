// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/what_if.h"

#include <algorithm>
#include <array>

#include "analyzer/model/allocator/imagined_driver.h"
#include "analyzer/model/allocator/peak_watch.h"
#include "analyzer/model/allocator/placements.h"
#include "analyzer/model/allocator/request_replayer.h"
#include "analyzer/model/allocator/side_by_side.h"

namespace memtrace::allocator {

namespace {

[[nodiscard]] bool was_refused(const request_log& log, block_number block) {
  return block < log.addresses.size() && log.addresses[block] == 0;
}

[[nodiscard]] bool runs_out_earlier(const outcome& a, const outcome& b) {
  if (!a.out_of_memory || !b.out_of_memory) return a.out_of_memory && !b.out_of_memory;
  return a.out_of_memory->request < b.out_of_memory->request;
}

[[nodiscard]] bool is_worse(const outcome& a, const outcome& b) {
  if (runs_out_earlier(a, b)) return true;
  if (runs_out_earlier(b, a)) return false;
  return a.reserved.bytes > b.reserved.bytes;
}

[[nodiscard]] bool same(const outcome& a, const outcome& b) {
  return a.reserved.bytes == b.reserved.bytes && a.retries == b.retries &&
         a.out_of_memory.has_value() == b.out_of_memory.has_value() &&
         (!a.out_of_memory || a.out_of_memory->request == b.out_of_memory->request);
}

}  // namespace

scenario as_recorded(const request_log& log) {
  scenario under;
  under.options = log.options;
  under.total_bytes = log.total_bytes;
  under.usable_bytes = log.usable_bytes;
  return under;
}

outcome replay(const request_log& log, const scenario& under) {
  imagined_driver answers(under.usable_bytes != 0 ? under.usable_bytes : under.total_bytes,
                          under.addresses, under.seed);
  request_replayer run(log, under, answers);
  outcome found;
  const peak_watch watch(log, found);
  const auto count = log.requests.size();
  std::size_t i = 0;
  for (; i < count; ++i) {
    const auto& asked = log.requests[i];
    const auto done = run.step(asked);
    if (asked.what() == action::allocate) {
      watch.look(run.state(), i);
      if (!was_refused(log, asked.block)) {
        if (!done.refused) continue;
        found.out_of_memory = {static_cast<std::uint32_t>(i), watch.event_of(i), asked.size};
        break;
      }
      // The program never had it: it went on as recorded, without.
      if (!done.refused) {
        ++found.served_refusals;
        run.state().free(asked.block, false);
      }
    } else if (asked.what() == action::complete && asked.size != 0 && done.completed) {
      ++found.early_completions;
    }
  }
  found.requests = i;
  found.retries = run.state().retries();
  found.calls = run.state().calls();
  found.reserved_at_end = run.state().reserved();
  return found;
}

range_of_outcomes replay_all_policies(const request_log& log, const scenario& under,
                                      const outcome* lowest_addresses) {
  std::array<outcome, placements.size()> found;
  if (lowest_addresses != nullptr) found.front() = *lowest_addresses;
  const std::size_t known = lowest_addresses == nullptr ? 0 : 1;
  side_by_side(placements.size() - known, [&](std::size_t i) {
    auto here = under;
    here.addresses = placements[i + known].policy;
    here.seed = placements[i + known].seed;
    found[i + known] = replay(log, here);
  });
  range_of_outcomes range;
  range.lowest_addresses = range.best = range.worst = found.front();
  for (const auto& one : found) {
    if (!same(one, range.lowest_addresses)) range.depends_on_addresses = true;
    if (is_worse(one, range.worst)) range.worst = one;
    if (is_worse(range.best, one)) range.best = one;
  }
  return range;
}

}  // namespace memtrace::allocator
