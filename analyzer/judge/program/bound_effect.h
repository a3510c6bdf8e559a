// SPDX-License-Identifier: Apache-2.0
//
// Whether what a program does where a comparison holds keeps a container from getting longer:
//
//   if len(items) > 50: items.pop(0)          it does: the oldest makes way
//   if len(items) < 50: items.append(x)       it does: nothing more comes
//   if len(items) >= 50: return               it does, where something is added after that
//   if len(items) >= 20: use(items[-20:])     it does not
//   if len(items) < 20: continue              it does not: there are not enough yet
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

enum class effect : std::uint8_t {
  none,
  unknown,  // the program does not say: nothing is under the line, or the result has a name
  limits,
};

class bound_effect {
 public:
  // A container, or an object that has one: a new one of its class empties it, too.
  enum class kind : std::uint8_t { container, object };
  // `name`: of the container, without what it is an attribute of.
  bound_effect(const program_text& program, const std::string& name, kind what = kind::container);

  // `line` compares; `when_long`: it holds where the container is long.
  [[nodiscard]] effect of(std::size_t line, bool when_long) const;
  // Whether the statement takes elements out of it, itself or by functions of this program.
  [[nodiscard]] bool takes_out(const std::string& statement, int depth = 0) const;
  // The same by its own words alone: items.pop(), del items[0].
  [[nodiscard]] bool removes(const std::string& statement) const;
  // Leaves some of its first or last elements, or rows, in it: items = items[extra:].
  [[nodiscard]] bool shortens(const std::string& statement) const;
  [[nodiscard]] bool puts_in(const std::string& statement) const;
  // Calls a function that nothing else calls, and that makes it larger.
  [[nodiscard]] bool calls_for(const std::string& statement) const;
  // Puts something in, or makes a longer tensor of it.
  [[nodiscard]] bool makes_larger(const std::string& statement) const;
  // Whether the statement leaves it with nothing: items.clear(), items = [], cache = None.
  [[nodiscard]] bool empties(const std::string& statement) const;

 private:
  [[nodiscard]] effect where_called(std::size_t line, bool when_long) const;
  [[nodiscard]] effect of_branch(std::size_t line, bool when_long) const;
  [[nodiscard]] bool comes_after(std::size_t line) const;

  const program_text& program_;
  std::string name_;
  kind what_;
  std::regex puts_;
  std::regex takes_;
  std::regex shortens_;
};

}  // namespace memtrace::verdicts
