// SPDX-License-Identifier: Apache-2.0
//
// Does a program's own text prove that what it gathers comes to an end?
//
//   if len(self.items) < self.capacity:        bounded: length, 40 elements, by the condition in
//       self.items.append(x)                   line 12, `len(self.items) < self.capacity`
//
//   losses.append(loss)                        open: nothing takes out of it or asks how long it is
//
//   if self.is_stale(x):                       unknown: line 20 may take out of it, and nothing
//       self.items.remove(x)                   says when
//
// A proof holds for every place that makes the container longer, whatever things are called: all
// uses of the variable are looked at, under all names that it has. Where it is handed to somebody
// whose code is not in the file, or a limit has no known value, nothing is proved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/program/names.h"
#include "analyzer/judge/program/readings.h"

namespace memtrace::program {

// Why a container does not get ever longer.
enum class bound_kind : std::uint8_t {
  container,  // by itself: deque(maxlen=…), lru_cache
  length,     // its length is compared with a limit, or it is cut to one
  keys,       // what is put in takes the place of what was there under the same key
  emptied,    // it is left with nothing after so many steps or rounds
  positions,  // a cache of keys and values, of a model that has so many positions
  counted,    // its elements are counted, and what is above a limit of that count is taken out
  episode,    // a phase gathers it and gives it back: seen, and not proved by the program
  loop,  // a loop collects it, has ended, and what comes after it reads it, in a run that trains nothing
};

struct bound {
  bound_kind kind = bound_kind::length;
  std::string file;
  std::uint32_t line = 0;
  std::string expression;  // that says so, on one line
  // Elements, keys, rounds, positions, calls or what the program counts, as the program, the heap scan or the run says; the
  // length that it has where it cannot get another one.
  std::uint64_t value = 0;
};

// What in a program keeps a bound from being excluded, where none is proved.
enum class doubt_kind : std::uint8_t {
  taken_out,  // something may be taken out
  measured,   // its length is compared with something
  keys,       // what is put in may take the place of what was there
  elsewhere,  // it is handed to code that is not seen
  runs_out,   // what is put in is taken from something that comes to an end
  places,     // no container gets longer: each element of one has something more
  captures,   // CUDA graphs have it, and perhaps all of them are captured
  returns,    // a function of a library has it, and gives it back or away when it returns
};

struct doubt {
  doubt_kind kind = doubt_kind::taken_out;
  std::string file;
  std::uint32_t line = 0;
  std::string expression;
};

// What is asked about: as the heap scan names it.
struct question {
  std::string variable;  // self.items, losses, tracker.removed
  std::string owner;     // local of fit
  std::uint32_t owner_line = 0;
  std::string holder;        // class of the object that has it; empty: not known
  std::string container;     // class of the container; empty: one tensor
  std::uint64_t length = 0;  // elements by now; 0: not known
  std::string numbers;       // beside it: capacity=40,budget=320
  bool in_elements = false;  // the containers in it get longer
  bool by_graph = false;  // the tensors are kept by a graph that gets longer: no cut makes it less
  std::uint64_t steps = 0;  // in which it has grown and never become less
  std::uint64_t times = 0;  // of them, in which something came; 0: not known
  bool is_over =
      false;  // nothing was trained and no request refused, and it ended with exit status 0
  // Lines of this file that were running when the memory was asked for, of each frame one; empty:
  // not known. What no loop around them leads to does not run while it grows.
  std::vector<std::uint32_t> running = {};
};

struct answer {
  std::optional<bound> proof;  // bounded
  std::optional<doubt> why;    // not settled; neither: open, or nothing is known of it
  bool is_seen = false;        // the program has this variable, and makes it longer
  // Of one tensor: each round gives it something that is not made of what was there; or is.
  bool reallocated = false;
  bool made_of_itself = false;
  // Nothing asks it for a key, or for what is under one, in the turns in which it gets more.
  bool is_no_cache = false;
  readings read = {};       // what is done with the tensors that it has
  std::uint64_t looks = 0;  // at nodes of the program, that it took
  bool gave_up = false;     // it would have taken more than it may: nothing is known
};

// For one question, and for all those of a report: a long program takes some 100,000 for one.
inline constexpr std::uint64_t most_looks = 4'000'000;
inline constexpr std::uint64_t most_looks_in_all = 20'000'000;

// Whether a class of Python's keeps values under keys; a class of somebody else's is what it is.
[[nodiscard]] bool is_dictionary(std::string_view container);

// "length", "taken_out": as the report's JSON has them.
[[nodiscard]] std::string_view name_of(bound_kind which);
[[nodiscard]] std::string_view name_of(doubt_kind which);

// Of a list that a comprehension on this line makes, and that has so many elements by now, in a run that
// `is_over` as in question: it ends with what the comprehension goes through.
[[nodiscard]] std::optional<bound> end_of_comprehension(const source_file& file, std::uint32_t line,
                                                        std::uint64_t length);
// Whether this line makes a container of Python's, as list(map(…)) does, that has no name either.
[[nodiscard]] bool makes_container(const source_file& file, std::uint32_t line);

// A program that takes more looks than it may proves nothing, and leaves nothing in doubt.
[[nodiscard]] answer prove(const source_file& file, const std::string& path, const question& asked,
                           std::uint64_t looks = most_looks);

}  // namespace memtrace::program
