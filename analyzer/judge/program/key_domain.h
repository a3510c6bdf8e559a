// SPDX-License-Identifier: Apache-2.0
//
// Which keys a program uses, and whether a number only ever rises.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/judge/program/program_numbers.h"
#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

// How a program changes a number:
//
//   step += 1          up         for step in range(steps):      loop
//   left -= 1          down       task = step // 6               as `step`

enum class direction : std::uint8_t { none, up, down, loop };

[[nodiscard]] direction direction_of(const program_text& program, const std::string& variable);

[[nodiscard]] inline bool rises(direction way) {
  return way == direction::up || way == direction::loop;
}

// Whether the keys, or places, under which a program puts things come again, since there are only
// so many of them:
//
//   slot = step % 14 … items[slot] = x              14
//   task = TASKS[turn % len(TASKS)] … kept[task] = x   as many as TASKS has
//   kind = random.randrange(10)                     10
//   for name, weight in net.named_parameters():     as many as the model has
//
// A variable that is also given something else says nothing.

struct key_domain {
  std::uint64_t keys = 0;  // 0: how many is not known
  std::string said_by;     // TASKS; empty: a number
  std::size_t line = 0;
  bool drawn = false;    // by chance
  bool highest = false;  // they are passed one after the other, and none comes again
};

[[nodiscard]] std::optional<key_domain> domain_of_keys(const program_text& program,
                                                       const program_numbers& numbers,
                                                       const std::string& container);

// Of a number that only ever rises, and not beyond one: task = min(step // 6, TASKS - 1). `line`:
// where it is read.
[[nodiscard]] std::optional<key_domain> highest_of(const program_text& program,
                                                   const program_numbers& numbers,
                                                   const std::string& variable, std::size_t line);

}  // namespace memtrace::verdicts
