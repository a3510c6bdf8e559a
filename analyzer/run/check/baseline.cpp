// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/baseline.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/numbers.h"
#include "analyzer/run/check/judge.h"
#include "analyzer/run/check/sizes.h"

namespace memtrace::check {

namespace {

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
