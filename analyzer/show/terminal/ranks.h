// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "analyzer/base/text/page.h"
#include "analyzer/run/ranks/find_ranks.h"

namespace memtrace::terminal {

// How many ranks there are, what they peak at, which are missing, which differ and why, in at most
// `room` lines. Nothing of a single process.
void add_ranks(text::page& out, const ranks::ranks_found& found, std::size_t room,
               std::size_t columns);

// All of them, a line each, then all differences and what is shared.
void add_rank_table(text::page& out, const ranks::ranks_found& found, std::size_t columns);

}  // namespace memtrace::terminal
