// SPDX-License-Identifier: Apache-2.0
//
// Until when a program can still use what it made: until the call returns that was given it, or
// until the loop turns that made it. Positions are event numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::blocks {

// In which order the modules of a forward pass made their blocks, and how long a block would live
// if autograd did not keep it: until the call returns that was given it, of the module that runs
// next. Positions are event numbers.

// By block_number: the event of the first block after that, in the same call of a root module; 0
// where there is none.
[[nodiscard]] std::vector<std::uint64_t> ends_of_use_in_forward(const evidence& of);

// Where the program's loops go back, as the lines tell that make blocks: a function runs a line
// further up than before. What one turn of a loop made and does not carry over is not used any more
// from there on. Positions are event numbers.

struct loop_turns {
  // The first event after the block's birth at which the function that made it, or called the model
  // that did, or one that called this function, is back at that line or above; past the last event:
  // never.
  std::uint64_t over = 0;
  std::uint64_t next_over = 0;  // the same, one turn later
};

[[nodiscard]] std::vector<loop_turns> turns_of_loops(const evidence& of);  // by block_number

// The same of what a call of a model made, where the turns are calls: over where the same model is called
// again, which is a turn also where all of a loop is one line, or half of one where a loop calls it twice.
// What no call made: past the last event.
[[nodiscard]] std::vector<loop_turns> turns_of_calls(const evidence& of);  // by block_number

}  // namespace memtrace::blocks
