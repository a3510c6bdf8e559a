// SPDX-License-Identifier: Apache-2.0
//
// Whether a variable gets something new in each step, that does not depend on what it had before:
//
//   answers = [net(crop) for crop in crops]      it does: what grows is the work of a step
//   bank = torch.cat([bank, keys])               it does not
//   merged = torch.cat([bank, keys]); bank = merged    nor here, by a detour
//   batch = torch.stack(examples)                nor here, where `examples.append(…)` goes on
#pragma once

#include <string>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

[[nodiscard]] bool is_made_anew(const program_text& program, const std::string& variable);

// Whether what a step gives it is made of what it was before: states = [0.9 * s for s in states].
[[nodiscard]] bool is_made_of_itself(const program_text& program, const std::string& variable);

}  // namespace memtrace::verdicts
