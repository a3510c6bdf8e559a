// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/what_if.h"

#include <algorithm>
#include <array>

#include "analyzer/model/allocator/imagined_driver.h"
#include "analyzer/model/allocator/peak_watch.h"
#include "analyzer/model/allocator/request_replayer.h"
#include "analyzer/model/allocator/side_by_side.h"

namespace memtrace::allocator {

namespace {

// The address policies that are replayed where nobody knows what the driver would do.
struct placement {
  address_policy policy{};
  std::uint64_t seed = 0;
};
constexpr std::array placements = {
    placement{address_policy::lowest, 0}, placement{address_policy::descending, 0},
    placement{address_policy::random, 1}, placement{address_policy::random, 2},
    placement{address_policy::random, 3},
};

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

// Looks for the smallest capacity that fits: upwards from what the program's blocks need at least,
// first in growing steps, then by bisection. Fit is not monotone: what is returned was replayed.
class fitting {
 public:
  fitting(const request_log& log, const scenario& under, bool every_policy)
      : log_(log), under_(under), every_policy_(every_policy) {}

  // Whether every policy gets through, or the first.
  [[nodiscard]] bool fits(std::uint64_t usable_bytes) {
    ++tested_;
    under_.usable_bytes = usable_bytes;
    if (under_.total_bytes != 0) under_.total_bytes = std::max(total_, usable_bytes);
    std::uint64_t retries = 0;
    for (const auto& one : placements) {
      under_.addresses = one.policy;
      under_.seed = one.seed;
      const auto found = replay(log_, under_);
      if (found.out_of_memory) return false;
      retries = std::max(retries, found.retries);
      if (!every_policy_) break;
    }
    best_ = {usable_bytes, retries, 0};
    return true;
  }
  [[nodiscard]] smallest_fit found() const {
    auto fit = best_;
    fit.tested = tested_;
    return fit;
  }

 private:
  const request_log& log_;
  scenario under_;
  bool every_policy_;
  std::uint64_t total_ = under_.total_bytes;
  std::uint32_t tested_ = 0;
  smallest_fit best_;
};

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

std::vector<tried_scenario> try_each(const request_log& log, const std::vector<scenario>& scenarios,
                                     std::uint64_t most, std::uint64_t step) {
  std::vector<tried_scenario> tried(scenarios.size());
  side_by_side(scenarios.size(), [&](std::size_t i) {
    tried[i].range = replay_all_policies(log, scenarios[i]);
    tried[i].fits = find_smallest_fit(log, scenarios[i], most, step);
  });
  return tried;
}

std::optional<smallest_fit> find_smallest_fit(const request_log& log, const scenario& under,
                                              std::uint64_t most, std::uint64_t step,
                                              bool every_policy) {
  step = std::max<std::uint64_t>(step, 1);
  auto unlimited_memory = under;
  unlimited_memory.usable_bytes = unlimited_memory.total_bytes = 0;
  const auto least = replay(log, unlimited_memory).allocated.bytes;
  // In steps above `least`: the largest that failed, the smallest that fitted.
  if (least > most) return std::nullopt;
  const auto at = [&](std::uint64_t steps) {
    return steps > (most - least) / step ? most : least + steps * step;
  };
  fitting tries(log, under, every_policy);
  std::uint64_t failed = 0;
  std::uint64_t fitted = 0;
  if (!tries.fits(at(0))) {
    for (std::uint64_t steps = 1;; steps *= 2) {
      if (tries.fits(at(steps))) {
        fitted = steps;
        break;
      }
      failed = steps;
      if (at(steps) == most) return std::nullopt;
    }
  }
  while (fitted > failed + 1) {
    const auto middle = failed + (fitted - failed) / 2;
    if (tries.fits(at(middle))) {
      fitted = middle;
    } else {
      failed = middle;
    }
  }
  return tries.found();
}

}  // namespace memtrace::allocator
