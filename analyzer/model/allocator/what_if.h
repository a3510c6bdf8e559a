// SPDX-License-Identifier: Apache-2.0
//
// The requests of a program replayed through the model of the allocator, under any options, on a
// device of any size. Bytes throughout.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/model/allocator/layout.h"
#include "analyzer/model/allocator/request_log.h"

namespace memtrace::allocator {

// Which address the driver gives a new segment: the best fit among equal blocks is the lowest, so
// peaks depend on it. What a real driver would do is not known.
enum class address_policy : std::uint8_t {
  lowest,      // the lowest gap that fits
  descending,  // each below the ones before
  random,      // scenario::seed
};
inline constexpr std::size_t address_policy_count = 3;

struct scenario {
  settings options;
  // Changes of settings and of the memory fraction that the program made in mid-run hold on top of
  // `options`; false: they are passed over.
  bool follow_changes = true;
  std::uint64_t total_bytes = 0;   // of the device; 0: unlimited
  std::uint64_t usable_bytes = 0;  // by the allocator; 0: total_bytes
  address_policy addresses = address_policy::lowest;
  std::uint64_t seed = 0;
};

// The recorded options and device.
[[nodiscard]] scenario as_recorded(const request_log& log);

struct driver_calls {
  std::uint64_t allocations = 0;  // cudaMalloc
  std::uint64_t frees = 0;        // cudaFree
  std::uint64_t maps = 0;         // cuMemCreate with cuMemMap, by granule
  std::uint64_t unmaps = 0;
  std::uint64_t reservations = 0;  // cuMemAddressReserve
  std::uint64_t failed = 0;        // of the above
  [[nodiscard]] std::uint64_t total() const {
    return allocations + frees + maps + unmaps + reservations;
  }
};

struct peak {
  std::uint64_t bytes = 0;
  std::uint32_t request = 0;  // after which it was first so high
  std::uint64_t event = 0;
};

struct refused_request {
  std::uint32_t request = 0;
  std::uint64_t event = 0;
  std::uint64_t requested = 0;  // bytes, before rounding
};

struct outcome {
  peak reserved;
  peak allocated;
  peak active;  // allocated, and freed ones that streams still hold
  std::uint64_t reserved_at_end = 0;
  std::uint64_t retries = 0;  // allocations that first had to give cached memory back
  driver_calls calls;
  // The first that ran out of memory where the recorded run did not: the replay ends there, since
  // nobody knows what the program would do then.
  std::optional<refused_request> out_of_memory;
  std::uint64_t requests = 0;  // that were replayed
  // Allocations that were refused in the recorded run and would not be here. Each is freed at once:
  // the program went on without it, and what it would have done with it nobody knows.
  std::uint64_t served_refusals = 0;
  // Deferred frees that took effect when the recorded allocator waited for them in a retry, which
  // this replay did not need: without the wait they would have come later, and peaks be higher.
  std::uint64_t early_completions = 0;
};

// Deterministic. Speed: above ten million requests a second on one core.
[[nodiscard]] outcome replay(const request_log& log, const scenario& under);

// Over all address policies (random: three seeds): the same figures, the range of each. `worst` is
// that with the highest peak reserved, or the first that runs out of memory. The policies are
// replayed side by side.
struct range_of_outcomes {
  outcome lowest_addresses;
  outcome best;
  outcome worst;
  bool depends_on_addresses = false;  // best and worst differ
};
// `lowest_addresses`: that replay, where it is known already.
[[nodiscard]] range_of_outcomes replay_all_policies(const request_log& log, const scenario& under,
                                                    const outcome* lowest_addresses = nullptr);

// The smallest of the tested usable capacities at which every policy gets through, to `step` bytes:
// from the most that was allocated at once up. Fit is not monotone: "fits at this one", never "fits
// from here on". Empty: not at the largest tested (`most`) either. Without `every_policy`: at which the
// lowest addresses do.
struct smallest_fit {
  std::uint64_t usable_bytes = 0;
  std::uint64_t retries = 0;  // there, in the worst policy
  std::uint32_t tested = 0;   // capacities
};
[[nodiscard]] std::optional<smallest_fit> find_smallest_fit(const request_log& log,
                                                            const scenario& under,
                                                            std::uint64_t most, std::uint64_t step,
                                                            bool every_policy = true);

// Calls `look` with the layout after each of `requests` (ascending indices) in one replay.
void show_layouts(const request_log& log, const scenario& under,
                  const std::vector<std::uint32_t>& requests,
                  const std::function<void(std::uint32_t request, const layout&)>& look);
// The same, at the recorded addresses: the layout that the program really had.
void show_recorded_layouts(const request_log& log, const std::vector<std::uint32_t>& requests,
                           const std::function<void(std::uint32_t request, const layout&)>& look);

// The same requests under several scenarios at once. They share nothing but the log, which is only
// read.
struct tried_scenario {
  range_of_outcomes range;
  std::optional<smallest_fit> fits;
};

// In the order of `scenarios`, the same whatever the number of threads (side_by_side.h).
// `most` and `step` are find_smallest_fit's, in bytes.
[[nodiscard]] std::vector<tried_scenario> try_each(const request_log& log,
                                                   const std::vector<scenario>& scenarios,
                                                   std::uint64_t most, std::uint64_t step);

}  // namespace memtrace::allocator
