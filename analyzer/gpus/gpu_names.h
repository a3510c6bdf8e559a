// SPDX-License-Identifier: Apache-2.0
//
// The GPUs of memtrace/gpu_models.def, by the names that --gpu takes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace::gpus {

[[nodiscard]] bool knows_gpu(std::string_view name);

// Bytes in all; empty: no such GPU.
[[nodiscard]] std::optional<std::uint64_t> gpu_memory(std::string_view name);

// "there is no GPU xyz to simulate; did you mean …": the nearest names, by edit distance.
[[nodiscard]] std::string unknown_gpu_sentence(std::string_view name);

// One a line: name, memory, product.
void print_gpus(std::FILE* out);

// "24GiB", "512 MiB", "80G", "1000": what the simulator reads as a size.
[[nodiscard]] bool is_memory_size(std::string_view text);

// Its bytes; empty: no size, or more than there can be.
[[nodiscard]] std::optional<std::uint64_t> memory_size(std::string_view text);

}  // namespace memtrace::gpus
