// SPDX-License-Identifier: Apache-2.0
//
// A run's needs by the formulas of memtrace estimate, beside what it really needed, and how much
// room its GPU and its host leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/estimate/expected.h"
#include "analyzer/run/model/model.h"

namespace memtrace::run {

[[nodiscard]] std::vector<estimate::expected_term> expected_terms(const process_report& process,
                                                                  const device_report& device);

// Against people's target of 70 to 85 % of a GPU's memory.
struct gpu_room {
  // Peak reserved, and what is outside of PyTorch's pool; without PyTorch, all at most.
  std::uint64_t used = 0;
  std::uint64_t others = 0;    // that other processes have
  std::uint64_t capacity = 0;  // of the GPU, or what the program allows itself of it
  // So many times the batch of this run stays within 85 %: c0 + c1 b, both from its peak. Empty:
  // less than half of the peak grows with the batch, or the rest alone is more.
  std::optional<double> batch_factor;
};
// Empty: the GPU's size is not known.
[[nodiscard]] std::optional<gpu_room> room_of(const process_report& process,
                                              const device_report& device);
// "506 MiB of 11.7 GiB (4 %)"
[[nodiscard]] std::string use_words(std::uint64_t used, std::uint64_t capacity);
// The same of a device, with what other processes have there; "506 MiB at most" of one whose size is
// not known.
[[nodiscard]] std::string use_of(const process_report& process, const device_report& device);

// Less than half of the GPU was in use at most, and no request failed: nothing has to be saved there.
[[nodiscard]] bool has_room(const process_report& process, std::uint32_t device);

}  // namespace memtrace::run
