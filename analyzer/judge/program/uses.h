// SPDX-License-Identifier: Apache-2.0
//
// What a program does with one variable that keeps memory:
//
//   self.items = []                     assign
//   self.items.append(x)                grow
//   if len(self.items) > 40:            measure
//       self.items.pop(0)               shrink
//   show(self.items)                    what show() does with its parameter; or escape
//
// The same object under other names is followed: `items = self.items`, a parameter of a function of
// the file, an attribute that it is put into. Where it goes somewhere else, that is said.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/program/names.h"

namespace memtrace::program {

enum class variable_kind : std::uint8_t {
  local,      // of the function `scope`, and of those within it
  global,     // of the module
  attribute,  // of objects of the class `holder`
};

struct variable {
  variable_kind kind = variable_kind::local;
  node scope;
  std::string name;
  std::string holder = {};  // empty: any class
  bool elements = false;    // not it: the containers in it, however deep
  std::string key = {};     // of elements: only those under this word
  bool of_module = false;   // an attribute of another module: train.items

  [[nodiscard]] bool operator==(const variable&) const = default;
};

enum class use_kind : std::uint8_t {
  grow,     // by `amount` elements, as append does
  put,      // under `key`, as container[key] = value does
  shrink,   // by `amount`
  cut,      // to at most what `limit` says, as del container[:-limit] does
  empty,    // container.clear()
  assign,   // `value` is the new one
  measure,  // its length is asked for: `at` is that expression
  member,   // whether something is in it
  read,
  escape,  // somebody may do anything with it
};

enum class use_amount : std::uint8_t { one, many, perhaps_one };

struct use {
  use_kind kind = use_kind::read;
  node at;  // the whole call, assignment or expression
  use_amount amount = use_amount::one;
  node key = {};        // of put
  node value = {};      // of assign, put and grow: what comes in
  node limit = {};      // of cut
  node what = {};       // the container in it
  bool certain = true;  // false: of an object that may be another one
};

struct use_list {
  std::vector<use> all;
  std::vector<variable> names;  // the variable first, then the others that it is known by

  [[nodiscard]] std::vector<use> of(use_kind kind) const;
  [[nodiscard]] bool has(use_kind kind) const;
};

// `is_queue`: its get() takes an element out, as a queue's does; a dictionary's does not.
// `is_tensor`: it is one tensor, and nobody makes another one longer by having it.
[[nodiscard]] use_list uses_of(const source_file& file, const variable& what, bool is_queue,
                               bool is_tensor = false);

// made = items[-40:]; items = made: what a name stands for that is given it in the statement before,
// and is used nowhere else.
[[nodiscard]] node behind(const source_file& file, const node& value);

// "users" of 'users'; empty: another expression.
[[nodiscard]] std::string_view word_of(const node& what);
// The right side of `group, state = self.groups[0], self.state[0]`, in parentheses or not; and of one
// of its values the target: `state`.
[[nodiscard]] bool is_side_by_side(const node& values);
[[nodiscard]] node target_beside(const node& value);
// Whether `a or b` is a value that somebody gets, and no condition.
[[nodiscard]] bool is_chosen_value(const node& what);
// What a call of Python's containers makes: a new one, whatever it is given.
[[nodiscard]] bool makes_container(const source_file& file, const node& call);

// What a container may be before it gets a name: `outputs` and `[]` of self.items = outputs or [].
struct origins {
  std::vector<node> names;    // names and attributes that it has already
  std::vector<node> unknown;  // calls and subscripts that may give one that others have
};
// `elements`: asked for the containers in the named one, not for it.
[[nodiscard]] origins origins_of(const source_file& file, const node& value, bool elements);
// Of an attribute that is given to a constructor which the file does not show, as a decorator or a
// base of the class makes it: Store(items=outputs).
[[nodiscard]] origins given_to_constructors(const source_file& file, const variable& what);

// Whether a node means the variable, or what it is known by.
[[nodiscard]] bool means(const source_file& file, const node& what, const variable& which);
[[nodiscard]] bool means_any(const source_file& file, const node& what, const use_list& uses);

// What functions and methods of Python and of libraries do with a container: the only names of a
// program that mean something by themselves.
enum class known : std::uint8_t {
  adds_one,        // methods: append, add, put
  adds_many,       // extend, update
  takes_one,       // popleft, popitem, remove
  only_reads,      // sort, keys, copy
  reads_argument,  // functions of Python: sum, sorted, enumerate
  passes_on,       // functions that may hand it on: partial, reduce
};

[[nodiscard]] bool is_known(std::string_view name, known as);

// torch.stack, F.pad, itertools.islice: a function of a library that reads the containers that it
// is given; or a method of an object that such a library has made: self.chance = random.Random(1).
[[nodiscard]] bool reads_by_library(const source_file& file, const node& function);

}  // namespace memtrace::program
