// SPDX-License-Identifier: Apache-2.0
//
// A container by whatever name a program's lines call it:
//
//   for kept in (self.moves, self.turns): kept.pop(0)        moves.pop(0)
//   seen = self.by_class.setdefault(label, []) … seen.pop()   by_class[_].pop()
//   state["pairs"].append(x)                                  pairs.append(x)
//   count = len(self.shelves) … if count < 8:                 if len(shelves) < 8:
//   length = self.keys.shape[2] … if length > 8:              if keys.shape[2] > 8:
//   trim(self.items, 40) … def trim(kept, most): del kept[0]  del items[0]
#pragma once

#include <string>
#include <string_view>

#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

// "items" of "memory.items" and of "seen['a']": what a line must name.
[[nodiscard]] std::string last_name(std::string_view variable);

// What lines of the program call a container: "items" of "memory.items", "pairs" of
// "optimizer.state[…]['pairs']", if they write that key.
[[nodiscard]] std::string name_in(const program_text& program, std::string_view variable);

// The program with other names of the container replaced by its own where they stand for it. What
// a container in it is called becomes "name[_]".
[[nodiscard]] program_text by_one_name(const program_text& program, const std::string& name);

// A program in which what is another object's has another name, so that nothing which is done to it
// is taken for done to the container:
//
//   run, phase = Meter(), Meter() … phase.reset()     says nothing of run.values
//   class Queue: … self.items = [] … self.items.pop() says nothing of recorder.items, of a Recorder

// `variable`: run.values; `holder`: the class of the object that has it; empty: none, or not known.
[[nodiscard]] program_text apart_from_others(const program_text& program, std::string_view variable,
                                             std::string_view holder);

}  // namespace memtrace::verdicts
