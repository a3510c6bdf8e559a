// SPDX-License-Identifier: Apache-2.0
//
// One start of a server on simulated GPUs: whether it came up, what its KV cache holds, and who has
// the memory of its fullest GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/plan/fit/plan.h"
#include "analyzer/plan/serve/engine.h"

namespace memtrace::serve {

enum class outcome : std::uint8_t {
  answers,        // it listens for requests
  ended,          // by itself, with status 0: a program that serves nobody
  out_of_memory,  // of the GPU's
  failed,         // ended otherwise
  timed_out,
  stopped,  // by the user or the budget
};
[[nodiscard]] constexpr bool came_up(outcome what) {
  return what == outcome::answers || what == outcome::ended;
}

struct share {
  std::string name;  // "weights"
  std::uint64_t bytes = 0;
};

struct cell {
  fit::gpu_choice gpu;
  std::size_t variant = 0;  // index in the request's variants
  outcome came = outcome::failed;
  std::string why;  // it did not come up: one sentence
  engine_words said;
  std::uint64_t devices = 0;     // that something was allocated on
  std::uint64_t used_bytes = 0;  // of the fullest, at most, by all processes
  // Of the process that has most there: what it held when its pool was fullest, then what lies
  // beside the pool; most bytes first, each apart.
  std::vector<share> shares;
  std::uint64_t weights_bytes = 0;   // of these
  std::uint64_t kv_cache_bytes = 0;  // the same
  double seconds = 0;
  std::string folder;  // where its traces are

  // Of the fullest device.
  [[nodiscard]] std::uint64_t left_bytes() const {
    return gpu.total_bytes - std::min(gpu.total_bytes, used_bytes);
  }
};

// Devices and shares from the traces in cell::folder, and of a cell that ran out of memory why.
// `most_devices`: of the machine.
void read_traces(cell& into, std::uint64_t most_devices);

struct request {
  std::vector<std::string> command;
  std::vector<fit::gpu_choice> gpus;
  std::vector<std::string> axes;
  std::vector<fit::variant> variants{{}};
  std::uint64_t requests = 0;  // at once, each with so many tokens; 0: no load was stated
  std::uint64_t tokens = 0;
};

// Whether its KV cache holds the stated load; nothing: no load was stated, or the engine did not
// say how many tokens it holds.
[[nodiscard]] std::optional<bool> serves(const request& wanted, const cell& one);

// Of those that hold the stated load the one that takes the least GPU memory in all, devices times
// their size, and of those the one with most tokens. Null: none does, or no load was stated.
[[nodiscard]] const cell* smallest_that_serves(const request& wanted,
                                               const std::vector<cell>& cells);

// "h100-80, --tensor-parallel-size 2"
[[nodiscard]] std::string name_of(const request& wanted, const cell& one);
// "h100-80: starts: room for 455,616 tokens"
[[nodiscard]] std::string one_line(const request& wanted, const cell& one);

// A table, and below it what each start needs and why others do not come up. `seconds`: in all.
[[nodiscard]] text::page show(const request& wanted, const std::vector<cell>& cells,
                              double seconds);
// memtrace-plan/1: sizes are bytes, what is not known is null.
[[nodiscard]] nlohmann::ordered_json to_json(const request& wanted, const std::vector<cell>& cells,
                                             double seconds);

}  // namespace memtrace::serve
