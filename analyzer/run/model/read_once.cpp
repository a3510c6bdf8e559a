// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/read_once.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analyzer/judge/advice/remedies/remedies.h"
#include "analyzer/judge/host/judge_host.h"
#include "analyzer/judge/verdicts/collector.h"
#include "analyzer/judge/verdicts/empty_cache_use.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/attribution/observer_pair.h"
#include "analyzer/model/device/shared_memory.h"
#include "analyzer/model/device/usage_collector.h"
#include "analyzer/model/history/collector.h"
#include "analyzer/model/history/fates.h"
#include "analyzer/trace/reader/observers.h"

namespace memtrace::run {

namespace {

// So that the report can show the places after the trace is closed.
[[nodiscard]] auto frames_of_findings(const trace::dictionary& names,
                                      const verdicts::findings& found) {
  std::map<trace::stack_id, std::vector<code::source_frame>> frames;
  for (const auto& verdict : found.verdicts) {
    for (const auto& culprit : verdict.culprits) {
      for (const auto stack : {culprit.stack, culprit.forward}) {
        if (stack) frames.try_emplace(stack, code::frames_of(names, stack));
      }
    }
  }
  return frames;
}

// Of the device with most.
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
void add_host(verdicts::findings& findings, const pass& done, const replay::replayer& replayed) {
  const auto ends = ends_of_steps(done.attributed);
  auto host = host::judge_host(done.report.host, replayed.driver().pinned_changes(), ends);
  const auto is_outside = [](const verdicts::verdict& one) {
    return one.about.kind == verdicts::subject_kind::outside && one.about.name.empty();
  };
  std::erase_if(findings.verdicts, [&](const verdicts::verdict& known) {
    return is_outside(known) && std::ranges::any_of(host, [&](const auto& one) {
             return is_outside(one) && one.about.device == known.about.device;
           });
  });
  std::ranges::move(host, std::back_inserter(findings.verdicts));
}

// 0: not known.
[[nodiscard]] std::uint64_t steps_of(const attribution::result& found) {
  std::uint64_t steps = 0;
  for (const auto& [index, device] : found.devices) steps = std::max(steps, device.steps.count);
  return steps;
}

void use_activity(const std::map<std::uint32_t, device::device_activity>& found,
                  process_report& report) {
  for (auto& device : report.devices) {
    const auto one = found.find(device.facts.device);
    if (one != found.end()) device.activity = one->second;
  }
}

}  // namespace

pass read_once(const std::string& path, trace::reader& reader, attribution::options wanted,
               const steps_given& given, also_kept also, const on_progress_t& on_progress) {
  pass done;
  done.replayed = std::make_unique<replay::replayer>(reader.names());
  done.allocators = std::make_unique<allocator_pass>(reader.names());
  auto& replayed = *done.replayed;
  verdicts::collector lives(reader.names(), replayed, given.ends);
  attribution::observer_pair both(lives, done.allocators->lives());
  history::collector past(reader.names(), replayed);
  attribution::observer_pair both_and_past(both, past);
  wanted.lives = also.history ? &both_and_past : &both;  // who asks nothing costs nothing
  history::fate_collector fates;
  attribution::observer_pair all_lives(*wanted.lives, fates);
  if (also.fates) wanted.lives = &all_lives;
  attribution::attributor attributor(reader.names(), replayed, wanted);
  program_counters counters(reader.names());
  optimizer_names optimizers(reader.names());
  host::host_collector host(reader.names(), replayed);
  device::usage_collector uses(reader.names(), replayed);
  remedies::empty_cache_use cache_use(reader.names());
  device::shared_memory_collector shared(reader.names());
  device::activity_collector activity(reader.names());
  trace::observers all(attributor, counters, host, uses, optimizers, cache_use, shared, activity,
                       done.allocators->records());
  trace::observers all_and_past(all, past);
  const auto facts =
      also.history ? reader.read(all_and_past, on_progress) : reader.read(all, on_progress);
  done.attributed = attributor.finish();
  done.report = build_process(path, reader, facts, replayed, done.attributed);
  if (also.history) done.report.history = past.take();
  if (also.fates) done.report.fates = fates.take();
  use_device_sums(uses.finish(), done.report);
  use_activity(activity.finish(), done.report);
  done.report.counters = counters.found();
  done.report.optimizers = optimizers.found();
  auto& findings = done.report.findings;
  findings = verdicts::conclude(lives, replayed, reader.names(), given.unit);
  done.report.host = host.found();
  done.report.shared = shared.found();
  add_host(findings, done, replayed);
  remedies::explain(findings, lives.kept(), reader.names(), {done.report.run.alloc_conf});
  verdicts::summarize(findings);
  if (auto habit = cache_use.finish(steps_of(done.attributed), ends_of_steps(done.attributed))) {
    findings.habits.push_back(std::move(*habit));
  }
  done.report.verdict_frames = frames_of_findings(reader.names(), findings);
  done.allocations = lives.births();
  done.last_allocation = lives.last_birth();
  return done;
}

}  // namespace memtrace::run
