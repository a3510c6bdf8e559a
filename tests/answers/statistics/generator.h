// SPDX-License-Identifier: Apache-2.0
//
// Synthetic series of live bytes whose true shape is known. Shares no code with the detector, and
// draws its parameters without regard to the detector's thresholds: docs/growth.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace synthetic {

enum class truth : std::uint8_t {
  accumulating,
  stepwise,
  sawtooth_leak,  // memory runs out in the end
  sawtooth,
  bounded_records,
  warmup_plateau,
  steady,  // it does not
};
inline constexpr std::size_t truths = 7;

[[nodiscard]] std::string_view name_of(truth value);
[[nodiscard]] constexpr bool leaks(truth value) {
  return value <= truth::sawtooth_leak;
}

enum class noise : std::uint8_t { none, jitter, white, autocorrelated };
[[nodiscard]] std::string_view name_of(noise value);

// How strong a leak is against its noise: what the best linear estimator that knows the noise
// would get as z for the slope. Range drawn from, log-uniformly.
struct strength {
  double low = 12, high = 1e4;
};

struct sample {
  truth shape{};
  noise kind{};
  std::vector<std::uint64_t> bytes;
  double bytes_per_step = 0;  // in the long run
  double period = 0;          // of a saw, in steps
  bool episodes = false;      // evaluation on top
  bool outliers = false;
};

// The same arguments give the same series, on any machine with IEEE doubles.
[[nodiscard]] sample draw(truth shape, std::uint64_t seed, strength signal = {});

}  // namespace synthetic
