// SPDX-License-Identifier: Apache-2.0
//
// What an expression of the program comes to, where the program or a heap scan says: a literal, a
// constant, an attribute whose value the heap scan saw. Only of names that are given one value: a
// limit that moves is none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/judge/program/names.h"

namespace memtrace::program {

// "capacity=40,budget=320", as a heap scan writes the whole numbers beside a container.
class seen_numbers {
 public:
  explicit seen_numbers(std::string_view text);
  [[nodiscard]] std::optional<std::int64_t> of(std::string_view name) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> by_name_;
};

class values {
 public:
  values(const source_file& file, const seen_numbers& seen) : file_(file), seen_(seen) {}

  // None: nobody says, or it changes.
  [[nodiscard]] std::optional<std::int64_t> of(const node& expression, unsigned depth = 0) const;
  // How often a loop's body runs, where what it goes through is of a known length.
  [[nodiscard]] std::optional<std::int64_t> rounds_of(const node& loop) const;
  // The length of a list that is written down, of range(40), of a name for one.
  [[nodiscard]] std::optional<std::int64_t> length_of(const node& expression,
                                                      unsigned depth = 0) const;
  // What a name or attribute is given, where that happens once; none: never, or more than once.
  [[nodiscard]] node only_value_of(const node& name) const;
  // Counts by one from round to round, without end: a loop's variable, a name with += 1.
  [[nodiscard]] bool is_counter(const node& expression) const;

 private:
  [[nodiscard]] bool changes(const node& name) const;
  // Given a value by a word: setattr(self, "capacity", …), vars(self)["capacity"] = …
  [[nodiscard]] bool is_set_by_word(std::string_view name) const;
  // Of a parameter: what all calls give for it.
  [[nodiscard]] std::optional<std::int64_t> of_parameter(const node& name, const node& function,
                                                         unsigned depth) const;
  // Of another object than the method's own, where its own one has the name, too.
  [[nodiscard]] bool is_of_another(const node& attribute) const;

  const source_file& file_;
  const seen_numbers& seen_;
};

}  // namespace memtrace::program
