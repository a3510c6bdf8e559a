// SPDX-License-Identifier: Apache-2.0
//
// Which function, class or variable a name of a program means, as Python's scopes say. No spelling
// decides anything: names are compared with names alone, and with those of Python and PyTorch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/program/syntax.h"

namespace memtrace::program {

// One file of a program.
class source_file {
 public:
  explicit source_file(std::string text);
  source_file(const source_file&) = delete;
  source_file& operator=(const source_file&) = delete;

  [[nodiscard]] node root() const { return parsed_.root(); }
  // Looks at its nodes are counted, and end a question that takes too many of them.
  [[nodiscard]] const tree& parsed() const { return parsed_; }
  // Nodes that read or write a name: identifiers, and attributes by what stands after the dot.
  [[nodiscard]] const std::vector<node>& named(std::string_view name) const;
  // A name as the file writes it: __items of _Store__items, if it has a class Store.
  [[nodiscard]] std::string_view written(std::string_view name) const;
  // Strings that are this word, or have it as a part.
  [[nodiscard]] const std::vector<node>& quoted(std::string_view word) const;
  // from config import *
  [[nodiscard]] bool imports_all() const { return imports_all_; }

  // function_definition, those of a name; of a line: that which begins there, decorators included.
  [[nodiscard]] const std::vector<node>& functions(std::string_view name) const;
  [[nodiscard]] node function_at(std::string_view name, std::uint32_t line) const;
  [[nodiscard]] const std::vector<node>& classes(std::string_view name) const;
  // Whether one of the two classes is the other or derives from it, as far as the file shows.
  [[nodiscard]] bool are_related(std::string_view one, std::string_view other) const;
  // Whether an unrelated class of the file has an attribute of this name, too.
  [[nodiscard]] bool is_attribute_of_others(std::string_view attribute,
                                            std::string_view holder) const;

  // The function whose body has it; of nothing at the module's level. Lambdas are none.
  [[nodiscard]] node function_of(const node& what) const;
  // The class whose method (or a function in one) has it; nothing outside of classes.
  [[nodiscard]] node class_of(const node& what) const;
  // Whether a name means a variable of this function's own, or of a lambda or a comprehension; of
  // `where`: the one of them that a name used there belongs to, nothing for the module's.
  [[nodiscard]] bool binds(const node& scope, std::string_view name) const;
  [[nodiscard]] node owner_of(const node& where, std::string_view name) const;
  // Whether a name means what Python has by it: nothing in the file is called so.
  [[nodiscard]] bool is_of_python(const node& name) const;

  // The one function of the file that a call runs, a class's __init__ where it makes an object;
  // none: another file's, or one of several.
  [[nodiscard]] node callee(const node& call) const;
  // Calls that run this function, as far as the file shows them.
  [[nodiscard]] std::vector<node> calls_of(const node& function) const;
  // The function that an attribute runs where it is read: a @property of the file.
  [[nodiscard]] node property_of(const node& attribute) const;
  // The name of the parameter that takes an argument of this call; empty: not known.
  [[nodiscard]] std::string parameter_for(const node& function, const node& call,
                                          const node& argument) const;
  // Whether it runs again and again: in a loop, or in a function that is called from one. With
  // lines that are running, only loops that have one of them. `others_too`: or in a function that others
  // may call, whose calls are not in the file.
  enum class calls_by : std::uint8_t { the_file, others_too };
  [[nodiscard]] bool is_repeated(const node& what, const std::vector<std::uint32_t>& running,
                                 calls_by whom = calls_by::the_file, unsigned depth = 0) const;
  // Whether objects of a class are made without its name: cls(…), or by a class that derives from it.
  [[nodiscard]] bool is_made_by_others(std::string_view made) const;
  // Whether it is the object that a method was called on: the method's first parameter.
  [[nodiscard]] bool is_self(const node& what) const;
  [[nodiscard]] static bool has_parameter(const node& function, std::string_view name);
  // Whether a call of it runs nothing yet: a generator, an async function.
  [[nodiscard]] bool runs_later(const node& function) const;
  // Whether a call gives a function its first parameter by itself: a method has one that it is called
  // on, not where it is called by the name of its class.
  [[nodiscard]] bool is_bound(const node& function, const node& call) const;
  // Whether this is the function by which objects of a class are made.
  [[nodiscard]] static bool is_constructor(const node& function);
  // Modules that it imports, by the name they have here: torch, np, F.
  [[nodiscard]] bool is_library(std::string_view name) const;
  // The package that a name is imported from: "torch" of F in `import torch.nn.functional as F`, of
  // cat in `from torch import cat`; empty: it is not.
  [[nodiscard]] std::string_view package_of(std::string_view name) const;

 private:
  void index();
  void index_definition(const node& what);
  void index_import(const node& what);
  void index_binding(const node& what);
  void give(const node& pattern, const node& scope);
  [[nodiscard]] bool is_given(const node& scope, std::string_view name) const;
  [[nodiscard]] bool is_called_by_others(const node& function, std::size_t calls) const;

  using by_name = std::map<std::string_view, std::vector<node>>;
  using by_scope = std::map<std::uint32_t, std::set<std::string_view>>;
  std::string text_;
  tree parsed_;
  by_name named_;
  by_name quoted_;
  by_name functions_;
  by_name classes_;
  std::map<std::string_view, std::set<std::string_view>> bases_;
  // By the scope's id: names of functions and classes, and of what else is given a name.
  by_scope defined_;
  by_scope given_;
  by_scope elsewhere_;                                      // global, nonlocal
  std::set<std::string_view> replaced_;                     // attributes that are given something
  std::set<std::uint32_t> yields_;                          // functions
  std::map<std::string_view, std::string_view> libraries_;  // → their package
  bool imports_all_ = false;
};

// Loops around it within its function, innermost first.
[[nodiscard]] std::vector<node> loops_around(const node& what);
// What gives a name or an attribute another value: an assignment, a loop, `with`; nothing: it is read.
[[nodiscard]] node given_by(const node& target);
// Whether a function has this decorator, without arguments: @staticmethod.
[[nodiscard]] bool is_decorated_with(const node& function, std::string_view name);
// The statement that it is, or is part of.
[[nodiscard]] node statement_of(const node& what);
// The names that an assignment's left side, a loop or a `with` gives something to.
[[nodiscard]] std::vector<node> targets_of(const node& pattern);
// The arguments of a call, those with a name included.
[[nodiscard]] std::vector<node> arguments_of(const node& call);
[[nodiscard]] std::size_t count_of_arguments(const node& call);

}  // namespace memtrace::program
