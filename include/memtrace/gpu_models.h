// SPDX-License-Identifier: Apache-2.0
//
// gpu_models.def as a table: what the simulator can be, and what the analyzer compares a run with.
#pragma once

#include <cstdint>

namespace memtrace {

struct gpu_model {
  const char* key;            // as given to --gpu
  const char* name;           // cudaDeviceProp::name
  std::uint64_t total_bytes;  // total of cudaMemGetInfo, cudaDeviceProp::totalGlobalMem
  std::uint64_t nvml_bytes;   // memory that nvidia-smi shows
  int capability_major;
  int capability_minor;
  int multiprocessors;
  int l2_bytes;
  int bus_bits;
  int clock_khz;         // boost
  int memory_clock_khz;  // half the data rate
};

inline constexpr gpu_model known_gpus[] = {
#define MEMTRACE_GPU(key, name, total, nvml, major, minor, sm, l2, bus, clock, memory_clock) \
  {key,                                                                                      \
   name,                                                                                     \
   std::uint64_t{total} << 20,                                                               \
   std::uint64_t{nvml} << 20,                                                                \
   major,                                                                                    \
   minor,                                                                                    \
   sm,                                                                                       \
   l2 << 20,                                                                                 \
   bus,                                                                                      \
   clock * 1000,                                                                             \
   memory_clock * 1000},
#include "memtrace/gpu_models.def"
#undef MEMTRACE_GPU
};

}  // namespace memtrace
