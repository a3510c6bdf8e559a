// SPDX-License-Identifier: Apache-2.0
//
// The grid as one HTML file that needs nothing else: GPUs across, lengths and variants down, each
// cell the largest batch, coloured by it; below, what each cell says.
#pragma once

#include <string>

#include "analyzer/plan/fit/plan.h"

namespace memtrace::fit {

[[nodiscard]] std::string to_html(const wishes& wanted, const plan& made);

}  // namespace memtrace::fit
