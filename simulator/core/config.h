// SPDX-License-Identifier: Apache-2.0
//
// The settings of the simulation: the GPU model, its memory, how many, and the sizes of what a real
// driver and its libraries allocate by themselves. Read once from the MEMTRACE_SIM_* variables.
#pragma once

#include <cstdint>
#include <string>

#include "memtrace/gpu_models.h"

namespace memtrace::simulator {

inline constexpr int maximum_devices = 16;

// Sizes in bytes of simulator/constants.def.
enum class constant_id : std::uint8_t {
#define MEMTRACE_CONSTANT(name, bytes, source) name,
#include "simulator/constants.def"
  count
};

struct configuration {
  gpu_model model;  // total_bytes and nvml_bytes already overridden by MEMTRACE_SIM_MEMORY
  int devices;
  std::string log_path;  // empty: no log
  std::string session;   // empty: this process shares its GPUs with no other
  std::uint64_t constants[static_cast<int>(constant_id::count)];
};

[[nodiscard]] const configuration& config();

// Bytes; the value of constants.def for this GPU unless MEMTRACE_SIM_CONSTANTS overrides it.
[[nodiscard]] std::uint64_t constant(constant_id id);

// "24GiB", "512 MiB", "80G", "1000" → bytes; 0 if it is no size.
[[nodiscard]] std::uint64_t parse_size(const char* text);

}  // namespace memtrace::simulator
