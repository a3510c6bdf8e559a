// SPDX-License-Identifier: Apache-2.0
//
// What a record `held` says in its two texts, taken apart (see trace_format.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/verdicts/path_levels.h"

namespace memtrace::verdicts {

struct held_path {
  std::string path;       // self.outputs[…]
  std::string container;  // list, deque(maxlen=50)
  std::uint64_t length = 0;
  std::string owner;  // local of fit
  std::string file;
  std::uint32_t line = 0;
  std::string holder;   // Trainer
  std::string numbers;  // capacity=40,budget=320
  std::vector<nested_level> levels;

  // What stays the same while the containers on the path get longer.
  [[nodiscard]] std::string identity() const;
};

[[nodiscard]] held_path parse_held(std::string_view name, std::string_view detail);

// The number of elements that a container is limited to, as its name says: 50 of
// "deque(maxlen=50)". 0: none is said.
[[nodiscard]] std::uint64_t limit_of(std::string_view container);

}  // namespace memtrace::verdicts
