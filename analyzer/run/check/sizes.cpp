// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/sizes.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/numbers.h"
#include "analyzer/run/check/findings.h"

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

// Those with a device.
[[nodiscard]] std::vector<const run::process_report*> users(const run::run_report& processes) {
  std::vector<const run::process_report*> found;
  for (const auto& one : processes) {
    if (std::ranges::any_of(one.devices, is_used)) found.push_back(&one);
  }
  return found;
}

[[nodiscard]] const run::process_report* partner(const run::run_report& before,
                                                 const run::run_report& now,
                                                 const run::process_report& process) {
  const auto candidates = users(before);
  if (candidates.size() == 1 && users(now).size() == 1) return candidates.front();
  if (!process.run.rank) return nullptr;
  const auto same = [&](const run::process_report* one) {
    return one->run.rank == process.run.rank;
  };
  const bool is_one = std::ranges::count_if(candidates, same) == 1;
  return is_one ? *std::ranges::find_if(candidates, same) : nullptr;
}

[[nodiscard]] std::string change(std::uint64_t before, std::uint64_t now) {
  if (now == before) return "the same as before";
  const auto by = now > before ? now - before : before - now;
  return fmt::format("{} ({}) {} than before", bytes_in_words(by), percent_in_words(by, before),
                     now > before ? "more" : "less");
}

}  // namespace

measured_peak allocated_of(const run::process_report& process, const run::device_report& device) {
  return {device.peak_allocated.totals.allocated, "allocated", what_may_be_higher(process, device),
          &device.at_peak};
}

measured_peak reserved_of(const run::process_report& process, const run::device_report& device) {
  if (!device.reserved()) return {std::nullopt, "reserved", {}, nullptr};
  return {device.reserved(), "reserved", what_may_be_higher(process, device), &device.at_peak};
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

baseline find_baseline(const run::run_report& before, const run::run_report& now,
                       const run::process_report& process, const run::device_report& device) {
  const auto* const other = partner(before, now, process);
  if (other == nullptr) {
    return {nullptr, nullptr,
            process.run.rank
                ? fmt::format("the baseline has no rank {}, or several", *process.run.rank)
                : "the runs have several processes that do not say their ranks, so that it is not "
                  "known which of the baseline's is this one"};
  }
  const auto same = std::ranges::find_if(other->devices, [&](const run::device_report& one) {
    return one.facts.device == device.facts.device && is_used(one);
  });
  if (same != other->devices.end()) return {other, &*same, {}};
  return {
      other, nullptr,
      fmt::format("the baseline has nothing on device {} to compare with", device.facts.device)};
}

void compare(const baseline& before, peak_of take, const run::process_report& process,
             const run::device_report& device, const tolerance& allowed, finding& to) {
  if (before.device == nullptr) {
    to.sentence = before.why_not;
    return;
  }
  const auto was = take(*before.process, *before.device);
  const auto is = take(process, device);
  if (!was.bytes || !is.bytes) {
    to.sentence = fmt::format(
        "what was {} is not known of {}, because no event of PyTorch's allocator was recorded",
        is.what, is.bytes ? "the baseline" : "this run");
    return;
  }
  to.sizes = comparison{*is.bytes, allowed.most(*was.bytes), was.bytes};
  to.sentence = fmt::format("{} {} at the peak, {} ({}), {}", bytes_in_words(*is.bytes), is.what,
                            change(*was.bytes, *is.bytes), bytes_in_words(*was.bytes),
                            against_limit(*to.sizes));
  const bool is_beyond = to.sizes->beyond() != 0;
  // A baseline that lacks something was at least that high: what is not above it holds.
  const auto& in_doubt = is_beyond ? was.missing : is.missing;
  if (!in_doubt.empty()) {
    to.sentence += fmt::format("; of {} {}, and its peak may have been higher",
                               is_beyond ? "the baseline" : "this run", in_doubt);
    return;
  }
  to.result = is_beyond ? outcome::broken : outcome::ok;
  if (is_beyond) to.line = most_grown_line(before.device->at_peak, device.at_peak);
}

}  // namespace memtrace::check
