// SPDX-License-Identifier: Apache-2.0
//
// What the lines of a program may say of how long a container gets: a bound, or a sign that a
// longer run would show one.
#pragma once

#include <cstdint>
#include <string>

namespace memtrace::verdicts {

// Why a container does not get ever longer, as a line of the program says.
enum class bound_kind : std::uint8_t {
  length,   // it is compared, cut, or a ring
  keys,     // what is put under a key takes the place of what was there; there are so many keys
  emptied,  // that is left with nothing, again and again
  places,   // no container gets longer: what is in it has something more each, once
};
struct shown_bound {
  std::string name;         // self.capacity; empty: a number
  std::uint64_t limit = 0;  // elements, keys, or steps until it is emptied; 0: not known
  std::string file;
  std::uint32_t line = 0;
  bound_kind kind = bound_kind::length;
};

// Why a short run does not tell whether a container goes on getting longer.
enum class open_kind : std::uint8_t {
  new_keys,     // something is put in for keys that are not there yet
  taken_out,    // something is taken out where a condition holds, which it has not
  measured,     // its length is compared with something
  runs_out,     // what is put in comes from something that comes to an end
  named,        // a number beside it is called a capacity
  larger_only,  // it is reallocated only where more is asked for than it has
};
struct open_end {
  open_kind kind = open_kind::new_keys;
  std::string file;
  std::uint32_t line = 0;
  std::string number = {};  // "capacity=480", if it is named
  bool is_below = false;    // known: it is not that long yet
};

}  // namespace memtrace::verdicts
