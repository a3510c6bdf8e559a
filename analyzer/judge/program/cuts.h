// SPDX-License-Identifier: Apache-2.0
//
// Slices that cut what a program gathers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/judge/program/bounds.h"
#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

// Along which dimension a tensor is made longer, and along which it is cut: what is joined along
// its rows and cut along its columns gets ever longer.

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

// The many ways in which a program leaves the last n of something, written as one:
//
//   x[..., max(0, x.shape[-1] - n):]                       x[..., -n:]
//   first = max(0, end - n) … rows[first:end]              rows[-n:]
//   del items[:len(items) - n]                             del items[:-n]
//   cache.narrow(1, cache.size(1) - n, n)                  cache[:, -n:]

// The statement of that line with its cuts written so. n is a number or a name.
[[nodiscard]] std::string with_plain_cuts(const program_text& program, std::size_t line);

// A tensor that is made longer and cut before it is kept, under another name than the one it is
// kept by:
//
//   known = torch.cat([cache, x], 1) … return out, known[:, -LEFT_CONTEXT:]
//   return torch.cat([memory, states])[-self.length:]
//   self.kept.extend(rows) … self.kept = self.kept[-self.capacity:]     of kept.states

struct length_cut {
  std::string left;      // as written: "self.length"
  std::size_t line = 0;  // from 0
  bool at_once = false;  // in the statement that makes it longer
};

// `line`: of the program's text, from 1, that allocates. None: it is not cut there, or its function
// hands on the whole, too.
[[nodiscard]] std::optional<length_cut> cut_where_made(const program_text& program,
                                                       std::uint32_t line);

// The same, where `numbers`, as a heap scan has written them, or the program say how much is left.
[[nodiscard]] std::optional<shown_bound> cut_where_made(const program_text& program,
                                                        std::uint32_t line,
                                                        std::string_view numbers);

// The variable that the line gives a longer tensor: "known". Empty: it gives none.
[[nodiscard]] std::string made_longer_at(const program_text& program, std::uint32_t line);

// Of "buffer.kept.states" what cuts `kept`, or `buffer`, each time.
[[nodiscard]] std::optional<shown_bound> owner_is_cut(const program_text& program,
                                                      std::string_view variable);

}  // namespace memtrace::verdicts
