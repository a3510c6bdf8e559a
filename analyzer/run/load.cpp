// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/load.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "analyzer/attribution/attributor.h"
#include "analyzer/attribution/observer_pair.h"
#include "analyzer/attribution/periodicity.h"
#include "analyzer/device/shared_memory.h"
#include "analyzer/device/use_collector.h"
#include "analyzer/host/judge_host.h"
#include "analyzer/remedies/explain.h"
#include "analyzer/remedies/habits/empty_cache_use.h"
#include "analyzer/replay/replay.h"
#include "analyzer/run/allocator_pass.h"
#include "analyzer/trace/visitor_pair.h"
#include "analyzer/verdicts/collector.h"
#include "analyzer/verdicts/conclude.h"
#include "analyzer/verdicts/summary.h"

namespace memtrace::run {

namespace {

using on_progress_t = std::function<void(const trace::progress&)>;

// Where verdicts see steps end, in programs that do not tell.
struct steps_given {
  std::vector<std::uint64_t> ends;  // events
  std::string unit = "step";
};

struct pass {
  // What its findings refer to.
  std::unique_ptr<trace::reader> reader;  // null: the caller's
  std::unique_ptr<replay::replayer> replayed;
  std::unique_ptr<allocator_pass> allocators;
  attribution::result attributed;
  attribution::inferred_steps inferred;
  process_report report;
  std::uint64_t allocations = 0;
  std::uint64_t last_allocation = 0;  // its event
};

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

[[nodiscard]] pass read_once(const std::string& path, trace::reader& reader,
                             attribution::options wanted, const steps_given& given,
                             const on_progress_t& on_progress) {
  pass done;
  done.replayed = std::make_unique<replay::replayer>(reader.names());
  done.allocators = std::make_unique<allocator_pass>(reader.names());
  auto& replayed = *done.replayed;
  verdicts::collector lives(reader.names(), replayed, given.ends);
  attribution::observer_pair observers(lives, done.allocators->lives());
  wanted.lives = &observers;
  attribution::attributor attributor(reader.names(), replayed, wanted);
  attribution::periodicity periods(reader.names());
  program_counters counters(reader.names());
  optimizer_names optimizers(reader.names());
  host::host_collector host(reader.names(), replayed);
  device::use_collector uses(reader.names(), replayed);
  trace::visitor_pair sampled(host, uses);
  trace::visitor_pair counted(counters, sampled);
  trace::visitor_pair told(counted, optimizers);
  trace::visitor_pair known(attributor, told);
  remedies::empty_cache_use cache_use(reader.names());
  trace::visitor_pair with_habits(known, cache_use);
  device::shared_memory_collector shared(reader.names());
  trace::visitor_pair with_shared(with_habits, shared);
  device::activity_collector activity(reader.names());
  trace::visitor_pair with_activity(with_shared, activity);
  trace::visitor_pair with_allocators(with_activity, done.allocators->records());
  trace::visitor_pair all(with_allocators, periods);
  const bool search = wanted.inferred_boundaries.empty();
  const auto facts =
      search ? reader.read(all, on_progress) : reader.read(with_allocators, on_progress);
  done.attributed = attributor.finish();
  if (search) done.inferred = periods.finish();
  done.report = build_process(path, reader, facts, replayed, done.attributed);
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

// Into names of its own, which live as long as what was found.
[[nodiscard]] pass read_again(const std::string& path, const trace::reader& first,
                              const attribution::options& wanted, const steps_given& given,
                              const on_progress_t& on_progress) {
  auto again = std::make_unique<trace::reader>(first.again());
  auto done = read_once(path, *again, wanted, given, on_progress);
  done.reader = std::move(again);
  return done;
}

[[nodiscard]] bool marks_steps(const attribution::result& found) {
  return std::ranges::any_of(found.devices, [](const auto& device) {
    return device.second.steps.boundary != attribution::step_boundary::none;
  });
}

// Of the device that was highest then.
[[nodiscard]] std::optional<std::uint64_t> event_of(const wanted_moment& moment,
                                                    const attribution::result& found) {
  if (moment.event) return moment.event;
  std::optional<std::uint64_t> event;
  std::uint64_t highest = 0;
  for (const auto& [index, device] : found.devices) {
    if (!moment.step || *moment.step >= device.steps.steps.size()) continue;
    const auto& step = device.steps.steps[*moment.step];
    const auto peak = moment.in ? step.peak_in[*moment.in] : step.peak;
    if (peak <= highest) continue;
    highest = peak;
    event = moment.in ? step.peak_event_in[*moment.in] : step.peak_event;
  }
  return event;
}

[[nodiscard]] std::optional<std::uint64_t> wanted_event(const load_options& options,
                                                        const pass& done) {
  if (options.at) return event_of(*options.at, done.attributed);
  const auto* const oom = decisive_oom(done.report);
  return oom == nullptr ? std::nullopt : std::optional(oom->facts.event);
}

// The last of them may be cut short, and what is freed at the program's end belongs to it.
[[nodiscard]] steps_given without_last(std::vector<std::uint64_t> ends) {
  if (!ends.empty()) ends.pop_back();
  return {std::move(ends)};
}

// Nothing comes back in what the program does: equal windows of events, up to the last allocation.
[[nodiscard]] steps_given windows_of(const pass& done) {
  constexpr std::uint64_t windows = 48;
  constexpr std::uint64_t fewest_allocations = 500;
  steps_given made{{}, "event window"};
  if (done.allocations < fewest_allocations) return made;
  for (std::uint64_t i = 1; i <= windows; ++i) {
    made.ends.push_back(done.last_allocation * i / windows);
  }
  return made;
}

[[nodiscard]] inferred_steps_report describe(const trace::dictionary& names,
                                             const attribution::inferred_steps& found) {
  return {found.count(), found.confidence, code::frames_of(names, found.anchor)};
}

[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[nodiscard]] std::optional<attribution::phase> phase_named(std::string_view name) {
  for (std::size_t i = 0; i < attribution::phase_count; ++i) {
    if (name_of(static_cast<attribution::phase>(i)) == name)
      return static_cast<attribution::phase>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<wanted_moment> parse_moment(const std::string& text) {
  constexpr std::string_view event = "event:";
  constexpr std::string_view step = "step:";
  wanted_moment moment;
  std::string_view rest = text;
  if (rest.starts_with(event)) {
    moment.event = number_in(rest.substr(event.size()));
    return moment.event ? std::optional(moment) : std::nullopt;
  }
  if (!rest.starts_with(step)) return std::nullopt;
  rest.remove_prefix(step.size());
  if (const auto slash = rest.find('/'); slash != rest.npos) {
    moment.in = phase_named(rest.substr(slash + 1));
    if (!moment.in) return std::nullopt;
    rest = rest.substr(0, slash);
  }
  moment.step = number_in(rest);
  return moment.step ? std::optional(moment) : std::nullopt;
}

process_report load(const std::string& path, trace::reader& reader, const load_options& options,
                    const on_progress_t& on_progress) {
  attribution::options wanted;
  wanted.keep_blocks = options.blocks;
  if (options.at) wanted.at = options.at->event;
  steps_given given;
  auto done = read_once(path, reader, wanted, given, on_progress);
  std::optional<inferred_steps_report> inferred;
  const bool marked = marks_steps(done.attributed);
  const auto again = [&] {
    done.allocators.reset();  // its requests, of which one pass at a time is enough
    done = read_again(path, reader, wanted, given, on_progress);
  };
  if (!marked && done.inferred.count() != 0) {
    inferred = describe(reader.names(), done.inferred);
    wanted.inferred_boundaries = done.inferred.ends();
    given = without_last(wanted.inferred_boundaries);
    // The moment of a step is known only once there are steps.
    if (const auto event = wanted_event(options, done)) wanted.at = event;
    again();
  } else if (!marked && !done.inferred.has_few_calls) {
    given = windows_of(done);
    if (!given.ends.empty()) {
      again();
    }
  }
  if (const auto event = wanted_event(options, done); event && event != wanted.at) {
    wanted.at = event;
    again();
  }
  done.report.inferred_steps = std::move(inferred);
  done.allocators->conclude(*done.replayed, done.attributed, done.report, options.on_replayed);
  return std::move(done.report);
}

}  // namespace memtrace::run
