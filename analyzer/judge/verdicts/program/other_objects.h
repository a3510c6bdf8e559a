// SPDX-License-Identifier: Apache-2.0
//
// A program in which what is another object's has another name, so that nothing which is done to it
// is taken for done to the container:
//
//   run, phase = Meter(), Meter() … phase.reset()     says nothing of run.values
//   class Queue: … self.items = [] … self.items.pop() says nothing of recorder.items, of a Recorder
#pragma once

#include <string>
#include <string_view>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// `variable`: run.values; `holder`: the class of the object that has it; empty: none, or not known.
[[nodiscard]] program_text apart_from_others(const program_text& program, std::string_view variable,
                                             std::string_view holder);

}  // namespace memtrace::verdicts
