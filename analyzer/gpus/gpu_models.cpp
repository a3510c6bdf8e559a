// SPDX-License-Identifier: Apache-2.0
#include "analyzer/gpus/gpu_models.h"

#include <array>

namespace memtrace::gpus {

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

constexpr std::array models = {
#define MEMTRACE_GPU(key, name, total, nvml, major, minor, sm, l2, bus, clock, memory_clock) \
  gpu_model{key, total * mebibyte},
#include "memtrace/gpu_models.def"
#undef MEMTRACE_GPU
};

}  // namespace

std::span<const gpu_model> gpu_models() {
  return models;
}

}  // namespace memtrace::gpus
