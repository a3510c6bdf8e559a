// SPDX-License-Identifier: Apache-2.0
//
// A tensor that is made longer and cut before it is kept, under another name than the one it is
// kept by:
//
//   known = torch.cat([cache, x], 1) … return out, known[:, -LEFT_CONTEXT:]
//   return torch.cat([memory, states])[-self.length:]
//   self.kept.extend(rows) … self.kept = self.kept[-self.capacity:]     of kept.states
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/judge/verdicts/program/program_text.h"
#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

struct length_cut {
  std::string left;      // as written: "self.length"
  std::size_t line = 0;  // from 0
  bool at_once = false;  // in the statement that makes it longer
};

// `line`: of the program's text, from 1, that allocates. None: it is not cut there, or its function
// hands on the whole, too.
[[nodiscard]] std::optional<length_cut> cut_where_made(const program_text& program,
                                                       std::uint32_t line);

// The same, where `numbers`, as a census has written them, or the program say how much is left.
[[nodiscard]] std::optional<shown_bound> cut_where_made(const program_text& program,
                                                        std::uint32_t line,
                                                        std::string_view numbers);

// The variable that the line gives a longer tensor: "known". Empty: it gives none.
[[nodiscard]] std::string made_longer_at(const program_text& program, std::uint32_t line);

// Of "buffer.kept.states" what cuts `kept`, or `buffer`, each time.
[[nodiscard]] std::optional<shown_bound> owner_is_cut(const program_text& program,
                                                      std::string_view variable);

}  // namespace memtrace::verdicts
