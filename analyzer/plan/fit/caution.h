// SPDX-License-Identifier: Apache-2.0
//
// What a dry run that got through does not show: steps that it did not make, because its values
// are zeros or because it was too short.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

// How often the program read what a GPU would have computed, as the simulator says when it ends by
// itself; 0: never, or it was ended.
[[nodiscard]] std::uint64_t reads_of_zeros(std::string_view output);

// For a program that ended otherwise than well: the same as the end of a sentence; empty: none.
[[nodiscard]] std::string zeros_as_a_reason(std::uint64_t reads);

// Why the peak of a longer run may be a higher one, as a sentence; empty: no reason is known.
[[nodiscard]] std::string caution_of(const probe& fitted);

}  // namespace memtrace::fit
