// SPDX-License-Identifier: Apache-2.0
//
// The values on the stack and in the memo while a pickle is read: numbers and texts, and of lists
// and dictionaries only what they were found to be. An event, a block or a segment goes into the
// contents as soon as its dictionary is whole, and a number stands for it.
#pragma once

#include <cstdint>

namespace memtrace::snapshot {

enum class value_kind : std::uint8_t {
  opaque,   // of no meaning here
  none,     //
  boolean,  // bits: 0 or 1
  integer,  // bits: in two's complement
  real,     // bits: of the double
  text,     // bits: its number
  pair,     // bits: of the pairs of integers
  object,   // bits: a list, or a dictionary that others refer to
  event,    // bits: its row; likewise block, segment and mark
  block,
  segment,
  mark,
};

struct value {
  value_kind kind = value_kind::opaque;
  std::uint64_t bits = 0;
};

enum class shape : std::uint8_t {
  list,      // nothing in it yet, or nothing of meaning
  dict,      // the same
  numbers,   // a dictionary of texts and whole numbers
  frame,     // first: its number
  frames,    // a list of them; first: the stack
  events,    // a list; first: its first row, and so on
  traces,    // a list of such lists
  blocks,    //
  segments,  //
  settings,  // of the allocator
  root,      // the whole snapshot
};

struct object {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t memo = 0;  // 1 + its place there; 0: nowhere
  shape what = shape::list;
};

}  // namespace memtrace::snapshot
