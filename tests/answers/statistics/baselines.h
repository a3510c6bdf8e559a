// SPDX-License-Identifier: Apache-2.0
//
// What others decide by, for comparison; written apart from the detector.
#pragma once

#include <cstdint>
#include <span>

namespace baselines {

// Mann-Kendall on every value, corrected for ties, one-sided at 0.5 % (z > 2.58).
[[nodiscard]] bool mann_kendall(std::span<const std::uint64_t> bytes);
// Least squares on every value: rises, and R² > 0.5.
[[nodiscard]] bool regression(std::span<const std::uint64_t> bytes);
// "Grew by more than 100 MB in more than 70 % of the calls."
[[nodiscard]] bool hundred_megabytes(std::span<const std::uint64_t> bytes);

}  // namespace baselines
