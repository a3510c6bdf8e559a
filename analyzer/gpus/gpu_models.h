// SPDX-License-Identifier: Apache-2.0
//
// The GPUs that the simulator knows, as somewhere else to run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace::gpus {

struct gpu_model {
  std::string_view name;  // h100-80, as --gpu takes it
  std::uint64_t total_bytes = 0;
};

[[nodiscard]] std::span<const gpu_model> gpu_models();  // in the order of memtrace/gpu_models.def

}  // namespace memtrace::gpus
