// SPDX-License-Identifier: Apache-2.0
//
// What a remedy is decided from: everything that is known of one cause of growth, and questions
// to it. Nothing here guesses.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/dictionary.h"
#include "memtrace/trace_format.h"

namespace memtrace::remedies {

// Of the run as a whole.
struct run_clues {
  std::string alloc_conf;  // the allocator's settings
};

struct clues {
  const verdicts::verdict& about;
  const verdicts::culprit& who;             // a culprit without anything where there is none
  const verdicts::retainer* keeper;         // what keeps it, mostly; null: no census says
  std::vector<code::source_frame> frames;   // of the allocation, innermost first
  std::vector<code::source_frame> forward;  // made in backward: of the forward call
  const run_clues& run;

  // All of these flags of format::held_*.
  [[nodiscard]] bool kept_by(std::uint32_t flags) const {
    return keeper != nullptr && (keeper->flags & flags) == flags;
  }
  [[nodiscard]] bool kept_with_graph() const;
  // No name leads to it, and autograd saved it or something that grows beside it: a graph whose
  // owner the census did not see.
  [[nodiscard]] bool lost_in_graph() const;
  // A container of one of these classes; without any: a container at all.
  [[nodiscard]] bool kept_in(std::initializer_list<std::string_view> classes = {}) const;
  // A path or holder with this word in it, in any case of letters.
  [[nodiscard]] bool keeper_mentions(std::string_view word) const;
  // A frame of the allocation, or of its forward call, in a file of this path or function.
  [[nodiscard]] bool passes_through(std::string_view file_part) const;
  // Made while the model was evaluated, or growth of evaluation.
  [[nodiscard]] bool in_evaluation() const;
  // What holds it, to be named in a sentence: `self.outputs`; "what keeps it" where not known.
  [[nodiscard]] std::string variable() const;
};

}  // namespace memtrace::remedies
