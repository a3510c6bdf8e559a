// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/gather.h"

#include <algorithm>

#include "analyzer/base/text/units.h"

namespace memtrace::blocks {

namespace {

[[nodiscard]] std::vector<std::uint64_t> step_events(const attribution::result& attributed,
                                                     std::uint32_t device) {
  std::vector<std::uint64_t> events;
  const auto found = attributed.devices.find(device);
  if (found == attributed.devices.end()) return events;
  for (const auto& step : found->second.steps.steps) events.push_back(step.end_event);
  return events;
}

// How many steps have ended before this request; never: there are none.
[[nodiscard]] std::uint32_t step_of(const std::vector<std::uint32_t>& ends, std::uint32_t request) {
  if (ends.empty()) return never;
  return static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end(), request) -
                                    ends.begin());
}

}  // namespace

gatherer::gatherer(const trace::dictionary& names, std::uint64_t most)
    : names_(names),
      most_(most),
      blocks_(names, most),
      requests_(names, allocator::kept_answers::of_driver),
      first_(requests_, most),
      observers_(first_, blocks_) {}

void count_steps(evidence& of, const std::vector<std::uint64_t>& end_events) {
  const auto& events = of.log.events;
  for (const auto event : end_events) {
    const auto first = std::lower_bound(events.begin(), events.end(), event);
    if (first == events.end()) break;  // of a part of the run that is not there
    of.step_ends.push_back(static_cast<std::uint32_t>(first - events.begin()));
  }
  for (std::size_t block = 0; block < of.blocks.size(); ++block) {
    const auto freed = of.blocks[block].free_request;
    of.blocks.set_steps(block, step_of(of.step_ends, of.log.allocations[block]),
                        freed == never ? never : step_of(of.step_ends, freed));
  }
}

std::map<std::uint32_t, device_evidence> gatherer::finish(const replay::replayer& replayed,
                                                          const attribution::result& attributed,
                                                          const host::host_samples& host,
                                                          const verdicts::findings& findings) {
  std::map<std::uint32_t, device_evidence> found;
  for (auto& [device, log] : requests_.finish()) {
    auto& made = found[device];
    made.log = std::move(log);
    if (!made.log->doubts.empty() || made.log->requests.empty()) continue;
    auto keepings = blocks_.keepings_of(device);
    made.of = std::unique_ptr<evidence>(new evidence{names_,
                                                     replayed,
                                                     attributed,
                                                     host,
                                                     findings,
                                                     *made.log,
                                                     blocks_.facts_of(*made.log),
                                                     {},
                                                     blocks_.modules(),
                                                     {},
                                                     {},
                                                     std::move(keepings),
                                                     blocks_.optimizer_steps()});
    count_steps(*made.of, step_events(attributed, device));
    made.of->now = allocator::replay(*made.log, allocator::as_recorded(*made.log));
    if (first_.cut()) {
      made.of->part = "the first " + text::format_count(most_) + " requests of the run";
    }
  }
  return found;
}

}  // namespace memtrace::blocks
