// SPDX-License-Identifier: Apache-2.0
//
// What was proved of a program before its text was taken out of the trace (memtrace scrub does that),
// so that the copy has the same verdict:
//
//   original:  text of train.py ─► prove ─► bounded ─────────────────► verdict
//   copy:      info `proved`: stack, path, owner ─► kind, line, value ─► verdict
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

// Of one thing that keeps memory of one stack; both are as in the trace.
struct told_proof {
  trace::stack_id stack;
  std::string path;  // these of the retainer
  std::string owner;
  std::string kept_in;  // its file
  std::uint32_t kept_at = 0;
  std::string holder;
  std::optional<program::bound> bound;
  std::optional<program::doubt> doubt;
  bool reallocated = false;
  bool made_of_itself = false;
  program::readings read = {};
  bool is_no_cache = false;
  [[nodiscard]] bool is_about(trace::stack_id of, const retainer& held_by) const;
};

// Of all that keeps what leaks, also where nothing was proved: that is not somebody else's proof.
[[nodiscard]] std::vector<told_proof> proofs_of(const trace::dictionary& names,
                                                const findings& found);

// As the value of an info record, without the expression, which is a piece of the program.
[[nodiscard]] std::string written(const trace::dictionary& names, const told_proof& proof);

// Those of a trace. What is no proof is left out.
[[nodiscard]] std::vector<told_proof> told_proofs(const trace::dictionary& names);

}  // namespace memtrace::verdicts
