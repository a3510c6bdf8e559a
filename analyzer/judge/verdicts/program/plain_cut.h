// SPDX-License-Identifier: Apache-2.0
//
// The many ways in which a program leaves the last n of something, written as one:
//
//   x[..., max(0, x.shape[-1] - n):]                       x[..., -n:]
//   first = max(0, end - n) … rows[first:end]              rows[-n:]
//   del items[:len(items) - n]                             del items[:-n]
//   cache.narrow(1, cache.size(1) - n, n)                  cache[:, -n:]
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// The statement of that line with its cuts written so. n is a number or a name.
[[nodiscard]] std::string with_plain_cuts(const program_text& program, std::size_t line);

}  // namespace memtrace::verdicts
