// SPDX-License-Identifier: Apache-2.0
//
// The verdicts: what grows, on every device and on the host, what keeps it, and what to write
// instead; and the program's costly habits.
#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/judge/advice/remedies/remedies.h"
#include "analyzer/judge/host/judge_host.h"
#include "analyzer/judge/verdicts/bounded_growth.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/run/model/parts.h"

namespace memtrace::run {

namespace {

// So that the report can show the places after the trace is closed.
[[nodiscard]] auto frames_of_findings(const trace::dictionary& names,
                                      const verdicts::findings& found) {
  std::map<trace::stack_id, std::vector<code::source_frame>> frames;
  for (const auto& verdict : found.verdicts) {
    for (const auto& suspect : verdict.suspects) {
      for (const auto stack : {suspect.stack, suspect.forward}) {
        if (stack) frames.try_emplace(stack, code::frames_of(names, stack));
      }
    }
  }
  return frames;
}

// The ends of the steps on the device that has most of them.
[[nodiscard]] std::vector<std::uint64_t> ends_of_steps(const attribution::result& found) {
  std::vector<std::uint64_t> ends;
  for (const auto& [index, device] : found.devices) {
    if (device.steps.steps.size() <= ends.size()) continue;
    ends.clear();
    for (const auto& step : device.steps.steps) ends.push_back(step.end_ns);
  }
  return ends;
}

// Memory outside of PyTorch's pool. What the driver said of a device goes before what follows from
// the program's own calls.
void add_host_verdicts(std::vector<verdicts::verdict> host, std::vector<verdicts::verdict>& to) {
  const auto is_outside = [](const verdicts::verdict& one) {
    return one.about.kind == verdicts::subject_kind::outside && one.about.name.empty();
  };
  std::erase_if(to, [&](const verdicts::verdict& known) {
    return is_outside(known) && std::ranges::any_of(host, [&](const auto& one) {
             return is_outside(one) && one.about.device == known.about.device;
           });
  });
  std::ranges::move(host, std::back_inserter(to));
}

// 0: not known.
[[nodiscard]] std::uint64_t steps_of(const attribution::result& found) {
  std::uint64_t steps = 0;
  for (const auto& [index, device] : found.devices) steps = std::max(steps, device.steps.count);
  return steps;
}

}  // namespace

void add_verdicts(const trace::dictionary& names, const replay::replayer& replayed,
                  const attribution::result& attributed, const verdicts::collector& lives,
                  const verdict_options& how, const remedies::empty_cache_use& cache_use,
                  process_report& to) {
  const auto ends = ends_of_steps(attributed);
  auto& findings = to.findings;
  findings = verdicts::conclude(lives, replayed, names, how.unit, how.suppressions);
  add_host_verdicts(host::judge_host(to.host, replayed.driver().pinned_changes(), ends),
                    findings.verdicts);
  verdicts::mark_expected(findings, names);
  remedies::prescribe(findings, names, {to.run.alloc_conf});
  verdicts::summarize(findings);
  if (auto habit = cache_use.finish(steps_of(attributed), ends)) {
    findings.habits.push_back(std::move(*habit));
  }
  to.verdict_frames = frames_of_findings(names, findings);
}

}  // namespace memtrace::run
