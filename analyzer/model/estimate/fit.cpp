// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/fit.h"

#include "analyzer/model/estimate/estimate.h"

namespace memtrace::estimate {

namespace {

constexpr std::uint64_t most_batch = 1'000'000;

// The largest batch whose peak is at most `bytes`; it grows with the batch.
[[nodiscard]] std::uint64_t largest_within(const plan& wanted, double bytes) {
  std::uint64_t fits = 0;
  std::uint64_t too_large = 1;
  while (too_large <= most_batch && peak_at(wanted, too_large) <= bytes) {
    fits = too_large;
    too_large *= 2;
  }
  while (too_large - fits > 1) {
    const auto between = fits + (too_large - fits) / 2;
    (peak_at(wanted, between) <= bytes ? fits : too_large) = between;
  }
  return fits;
}

}  // namespace

gpu_fit fit_on(const plan& wanted, std::string_view gpu, std::uint64_t total_bytes) {
  const auto total = static_cast<double>(total_bytes);
  gpu_fit found{gpu, total_bytes, make_estimate(wanted).peak() / total};
  found.how = found.used > 1             ? fit::no
              : found.used > target_high ? fit::tight
              : found.used < target_low  ? fit::room
                                         : fit::on_target;
  if (!wanted.shape || wanted.sequence == 0) return found;
  found.largest_batch = largest_within(wanted, target_high * total);
  found.batch_at_the_end = largest_within(wanted, total);
  return found;
}

}  // namespace memtrace::estimate
