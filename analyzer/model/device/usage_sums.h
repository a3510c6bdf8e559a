// SPDX-License-Identifier: Apache-2.0
//
// The parts of a device's use at one moment of the replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/device/usage.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::device {

// The recorder's counts at that moment (memtrace/host_samples.h), as far as it is known.
struct counted {
  std::uint64_t used = 0;
  std::optional<std::uint64_t> others;
  std::optional<std::uint64_t> pools;
  std::optional<std::uint64_t> graphs;
  std::optional<std::uint64_t> context;
  std::optional<std::uint64_t> others_and_context;  // where the two cannot be told apart
  // NVML's figure for this process, less what its calls had got then: contexts, modules and what
  // nothing explains. Only where others took or gave back of the device meanwhile: then a difference
  // of its free memory is theirs as well as ours.
  std::optional<std::uint64_t> beside_calls;
};

// The replay's figures for the device at the moment.
struct held {
  std::uint64_t allocated = 0;  // by PyTorch's caching allocator
  std::uint64_t reserved = 0;
  std::uint64_t graph_pools = 0;  // of reserved, not allocated: replays of CUDA graphs need it
  std::uint64_t in_segments = 0;  // of calls, in PyTorch's segments
  std::uint64_t from_pools = 0;   // stream-ordered, handed out
  std::uint64_t modules = 0;
  std::uint64_t rounding = 0;
  bool has_estimates = false;  // arrays
  bool has_allocator = false;  // its events are recorded
  std::vector<std::pair<replay::owner_id, std::uint64_t>> owners;
};

// Got by calls, reserved by pools and graphs, and rounded: all of this process but contexts and
// modules.
[[nodiscard]] std::uint64_t sum_of_calls(const counted& told, const held& known,
                                         const trace::dictionary& names);

[[nodiscard]] held held_now(const replay::replayer& replayed, std::uint32_t device);

// A part_name.
[[nodiscard]] std::string owner_name(const replay::owner_id& owner, const trace::dictionary& names);

// Without peaks. `facts`: of the device; they may tell what the context took.
[[nodiscard]] usage usage_of(const counted& told, const held& known,
                             const trace::device_facts& facts, const trace::dictionary& names);

}  // namespace memtrace::device
