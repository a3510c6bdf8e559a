// SPDX-License-Identifier: Apache-2.0
//
// How a program changes a number:
//
//   step += 1          up         for step in range(steps):      loop
//   left -= 1          down       task = step // 6               as `step`
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

enum class direction : std::uint8_t { none, up, down, loop };

[[nodiscard]] direction direction_of(const program_text& program, const std::string& variable);

[[nodiscard]] inline bool rises(direction way) {
  return way == direction::up || way == direction::loop;
}

}  // namespace memtrace::verdicts
