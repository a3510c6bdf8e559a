// SPDX-License-Identifier: Apache-2.0
//
// Which number a word of a program stands for, as its source or a heap scan says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

class program_numbers {
 public:
  // `beside`: capacity=40,budget=320.
  program_numbers(const program_text& program, std::string_view beside)
      : program_(program), beside_(beside) {}

  // Of 14, 1_000, self.capacity, SLOTS, len(NAMES), min(1 + step // 5, 7), SLOTS - 1; 0: not known.
  [[nodiscard]] std::uint64_t value_of(std::string_view operand) const {
    return value_of(operand, 0);
  }
  // A switch that was off when the heap scan looked: "reset_real=False" of self.reset_real.
  [[nodiscard]] bool is_off(std::string_view operand) const;
  // "if self.reset_real and …:", where one of its parts is such a switch, or asks whether a
  // deque(maxlen=n) has more than n.
  [[nodiscard]] bool never_holds(std::string_view condition) const;
  // Elements of the one list or tuple of constants that is written under the name.
  [[nodiscard]] std::uint64_t elements_of(std::string_view name) const;

 private:
  [[nodiscard]] std::uint64_t value_of(std::string_view operand, int depth) const;
  [[nodiscard]] std::uint64_t of_two(std::string_view operand, int depth) const;
  [[nodiscard]] std::uint64_t least_of(std::string_view arguments, int depth) const;
  [[nodiscard]] std::uint64_t at_most(std::string_view name, int depth) const;
  [[nodiscard]] bool is_beyond_its_own_bound(std::string_view condition) const;
  [[nodiscard]] std::uint64_t beside(std::string_view name) const;
  [[nodiscard]] std::uint64_t written(std::string_view name) const;

  const program_text& program_;
  std::string_view beside_;
};

// Elements of "['de', 'en']" or "(1, 2)"; 0: it is none, or made by a loop.
[[nodiscard]] std::uint64_t elements_written(std::string_view text);

// Whether the keys under which a program puts things are new each time: the number of a step, a
// count that goes on, the identity of an object.

// Of a line that puts something in under a key.
[[nodiscard]] bool puts_in_under_running_number(const program_text& program, std::size_t line,
                                                const std::string& container);

}  // namespace memtrace::verdicts
