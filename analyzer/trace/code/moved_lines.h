// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of two versions of a program: those that are in one run only go with one of the
// same function in the other, in the order of their numbers, because code that is edited moves.
//
//   train.py:31 forward ──── train.py:31 forward
//   train.py:88 main ─────── train.py:93 main
//                            train.py:97 main
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace memtrace::code {

// Before and after; one of the two may be empty. Each name goes into one pair.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> pair_lines(
    std::vector<std::string> before, std::vector<std::string> after);

// The keys of a map.
template <class Map>
[[nodiscard]] std::vector<std::string> names_of(const Map& by_name) {
  std::vector<std::string> names;
  for (const auto& [name, value] : by_name) names.push_back(name);
  return names;
}

}  // namespace memtrace::code
