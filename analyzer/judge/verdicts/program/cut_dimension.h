// SPDX-License-Identifier: Apache-2.0
//
// Along which dimension a tensor is made longer, and along which it is cut: what is joined along
// its rows and cut along its columns gets ever longer.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// For patterns of what is cut, "[:, -n:, :]": the dimensions before and after it that are left
// whole.
inline constexpr std::string_view whole_before = R"((?:\s*(?::|\.\.\.)\s*,)*\s*)";
inline constexpr std::string_view whole_after = R"(\s*(?:,\s*(?::|\.\.\.)\s*)*)";

// Whether `cut`, as "rows[:, -n:]", may shorten what `join` makes longer, as "torch.cat([rows, x],
// 1)". Where one of them does not say, it may.
[[nodiscard]] bool may_shorten(const std::string& cut, const std::string& join);

// The same for whatever lines of the program make `name` longer.
[[nodiscard]] bool may_shorten(const program_text& program, const std::string& name,
                               const std::string& cut);

}  // namespace memtrace::verdicts
