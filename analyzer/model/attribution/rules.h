// SPDX-License-Identifier: Apache-2.0
//
// The category of a block: an ordered table of small rules, each with a name and the kind of
// evidence it gives; the first that applies decides. Asked when the block dies or when the trace
// ends.
//
//   told      the program, the agent, autograd or a library hook said it      rules_told.cpp
//   origin    the functions on the stack that made it                         rules_origin.cpp
//   lifetime  in which passes it was made and freed                           rules_lifetime.cpp
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/frame_marks.h"
#include "analyzer/model/attribution/terms.h"

namespace memtrace::attribution {

// The facts that the recorder was able to give in this run.
struct run_knowledge {
  bool parameters = false;                              // of modules have been published
  bool workspaces = false;                              // handed to libraries have been recorded
  std::unordered_set<std::uint64_t> parameter_sizes{};  // of their blocks, in bytes
};

struct rule_case {
  const block_life& block;
  const life_end& end;
  const stack_marks& marks;
  const run_knowledge& run;
};

struct rule {
  std::string_view name;
  evidence how;
  std::optional<category> (*applies)(const rule_case&);
  // A guess: what is known of other blocks from the same place is better.
  bool guess = false;
};

struct classification {
  category what = category::unknown;
  evidence how = evidence::unknown;
  bool guess = true;
  std::string_view rule;
  // Autograd kept it until this many backward passes had ended, and the program after that.
  std::uint32_t until_backward = std::numeric_limits<std::uint32_t>::max();
};

[[nodiscard]] std::span<const rule> told_rules();
[[nodiscard]] std::span<const rule> origin_rules();
[[nodiscard]] std::span<const rule> lifetime_rules();

[[nodiscard]] classification judge(const rule_case& about);

// The verdict for a moment at which so many backward passes had ended: an activation that lives on
// because the program holds it (logits that only the next step's replace) is an output by then.
[[nodiscard]] classification at_moment(const classification& found, std::uint32_t backwards_ended);

// Made while neither a module, nor backward, nor an optimizer ran: by the program itself.
[[nodiscard]] bool made_by_program(const block_life& block);
// Freed before the call of the root module returned that made it.
[[nodiscard]] bool within_its_call(const rule_case& about);

}  // namespace memtrace::attribution
