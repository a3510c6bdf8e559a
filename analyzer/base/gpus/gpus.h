// SPDX-License-Identifier: Apache-2.0
//
// The GPUs of memtrace/gpu_models.h by the names that --gpu takes: what can be simulated, and what
// a run is compared with.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "memtrace/gpu_models.h"

namespace memtrace::gpus {

// As people write it: "rtx3090", "RTX 3090"; a name without the size that several have, such as
// "h100", is the one of them that is listed first. Null: there is no such GPU.
[[nodiscard]] const gpu_model* find(std::string_view name);

// "there is no GPU xyz to simulate; the nearest are …": names by edit distance. Of a size: the option
// that takes one.
[[nodiscard]] std::string unknown_gpu_sentence(std::string_view name);

// One a line: name, memory, product.
void print_gpus(std::FILE* out);

}  // namespace memtrace::gpus
