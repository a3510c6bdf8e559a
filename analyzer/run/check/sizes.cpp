// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/sizes.h"

#include <fmt/core.h>

#include "analyzer/base/text/numbers.h"
#include "analyzer/run/check/judge.h"

namespace memtrace::check {

namespace {

[[nodiscard]] std::string what_may_be_higher(const run::process_report& process,
                                             const run::device_report& device) {
  auto missing = what_is_missing(process);
  if (missing.empty() && run::ran_out(process, device.facts.device)) {
    missing = "the program ran out of memory before it got there";
  }
  return missing;
}

}  // namespace

measured_peak allocated_of(const run::process_report& process, const run::device_report& device) {
  return {device.peak_allocated.totals.allocated, "allocated", what_may_be_higher(process, device),
          &device.at_peak};
}

measured_peak reserved_of(const run::process_report& process, const run::device_report& device) {
  if (device.from_cuda_calls) return {std::nullopt, "reserved", {}, nullptr};
  return {device.peak_reserved.totals.reserved, "reserved", what_may_be_higher(process, device),
          &device.at_peak};
}

std::string percent_in_words(std::uint64_t part, std::uint64_t whole) {
  const double share = text::percent(part, whole);
  return share < 9.95 ? fmt::format("{:.1f} %", share) : fmt::format("{:.0f} %", share);
}

std::string against_limit(const comparison& sizes) {
  const auto limit = bytes_in_words(sizes.limit);
  if (const auto beyond = sizes.beyond(); beyond != 0) {
    return fmt::format("limit {}: {} ({}) beyond", limit, bytes_in_words(beyond),
                       percent_in_words(beyond, sizes.limit));
  }
  const auto room = sizes.limit - sizes.measured;
  if (room == 0) return fmt::format("limit {}: just that", limit);
  return fmt::format("limit {}: {} below", limit, bytes_in_words(room));
}

void hold_against(const measured_peak& peak, std::uint64_t limit, finding& to) {
  if (!peak.bytes) {
    to.sentence = fmt::format(
        "what was {} is not known, because no event of PyTorch's allocator was recorded",
        peak.what);
    return;
  }
  to.sizes = comparison{*peak.bytes, limit, std::nullopt};
  to.sentence = fmt::format("{} {} at the peak, {}", bytes_in_words(*peak.bytes), peak.what,
                            against_limit(*to.sizes));
  if (to.sizes->beyond() != 0) {
    to.result = outcome::broken;
    if (peak.at != nullptr) to.line = largest_line(*peak.at);
  } else if (peak.missing.empty()) {
    to.result = outcome::ok;
  }
  if (!peak.missing.empty()) {
    to.sentence += fmt::format("; {}, and the peak may have been higher", peak.missing);
  }
}

}  // namespace memtrace::check
