// SPDX-License-Identifier: Apache-2.0
//
// What makes a rank differ, in a sentence, with the lines of code that do.
#pragma once

#include "analyzer/run/ranks/find_ranks.h"

namespace memtrace::ranks {

// `usual`: a rank of the same group that does not differ.
void explain_difference(rank_difference& found, const rank_row& row, const rank_row& usual);

// `owner`: the rank whose device it is.
void explain_stray(rank_difference& found, const rank_row& row, const run::device_report& device,
                   const rank_row& owner);

}  // namespace memtrace::ranks
