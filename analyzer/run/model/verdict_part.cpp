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
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/run/model/keeping_lines.h"
#include "analyzer/run/model/parts.h"

namespace memtrace::run {

namespace {

// So that the report can show the places after the trace is closed. Of memory that CUDA's calls got
// they begin with the line that keeps it.
[[nodiscard]] auto frames_of_findings(const trace::dictionary& names,
                                      const replay::replayer& replayed, const process_report& to) {
  std::map<trace::stack_id, std::vector<code::source_frame>> frames;
  std::map<std::uint32_t, keeping_lines> keeping;
  for (const auto& device : to.devices) {
    const auto* const calls = replayed.driver().device(device.facts.device);
    if (!device.from_cuda_calls || calls == nullptr || to.findings.verdicts.empty()) continue;
    keeping.try_emplace(device.facts.device, names, calls->sites);
  }
  for (const auto& verdict : to.findings.verdicts) {
    for (const auto& suspect : verdict.suspects) {
      for (const auto stack : {suspect.stack, suspect.forward}) {
        if (!stack) continue;
        const auto [place, is_new] = frames.try_emplace(stack, code::frames_of(names, stack));
        const auto lines = keeping.find(suspect.device);
        if (!is_new || lines == keeping.end()) continue;
        auto& known = place->second;
        const auto first = lines->second.first_of(known);
        known.erase(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(first));
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

// "program", "library:libworker.so"
[[nodiscard]] bool is_owner(std::string_view part) {
  return part == device::part_name::program || part.starts_with(device::part_name::library);
}

// Memory outside of PyTorch's pool. What the driver said of a device goes before what follows from
// the program's own calls; and the verdict on a device whose blocks are those calls before those on
// who made them.
void add_host_verdicts(std::vector<verdicts::verdict> host,
                       const std::vector<device_report>& devices,
                       std::vector<verdicts::verdict>& to) {
  std::erase_if(host, [&](const verdicts::verdict& one) {
    return one.about.kind == verdicts::subject_kind::outside && is_owner(one.about.name) &&
           std::ranges::any_of(devices, [&](const device_report& device) {
             return device.facts.device == one.about.device && device.from_cuda_calls &&
                    device.events != 0;
           });
  });
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

// Of a model that generates one sequence its KV cache ends there; results that a loop has collected are
// as many as it had turns.
[[nodiscard]] host::known_steps known_steps_of(const verdicts::findings& found) {
  host::known_steps known;
  for (const auto& one : found.verdicts) {
    if (one.about.kind != verdicts::subject_kind::device) continue;
    if (verdicts::answer_of(one) == verdicts::answer::accumulates) known.piles_up = true;
    if (!one.bound) continue;
    if (one.bound->kind == program::bound_kind::positions) known.positions = one.bound->value;
    if (one.bound->kind == program::bound_kind::loop) known.by_loop = true;
  }
  return known;
}

// 0: not known.
[[nodiscard]] std::uint64_t steps_of(const attribution::result& found) {
  std::uint64_t steps = 0;
  for (const auto& [index, device] : found.devices) steps = std::max(steps, device.steps.count);
  return steps;
}

// Whichever attributes, keys and graphs lead on from a variable; most bytes first.
[[nodiscard]] std::vector<verdicts::retainer> by_variable(std::vector<verdicts::retainer> all) {
  std::vector<verdicts::retainer> found;
  for (auto& one : all) {
    const auto same = std::ranges::find_if(found, [&](const verdicts::retainer& other) {
      return verdicts::variable_of(other) == verdicts::variable_of(one) && other.file == one.file &&
             other.line == one.line;
    });
    if (same == found.end()) {
      found.push_back(std::move(one));
    } else {
      same->bytes += one.bytes;
      same->blocks += one.blocks;
      same->recorded_in_backward += one.recorded_in_backward;
    }
  }
  std::ranges::stable_sort(found, std::greater(), &verdicts::retainer::bytes);
  return found;
}

// The heap scan of a failure is that of the latest one, or of the first that was taken: the heap
// scans of many failures in a row are few.
void add_retainers(const verdicts::retention& kept, const trace::dictionary& names,
                   process_report& to) {
  const auto* const decisive = decisive_oom(to);
  if (decisive == nullptr) return;
  auto& oom = to.ooms[static_cast<std::size_t>(decisive - to.ooms.data())];
  oom.retained_by = by_variable(kept.at_failure(oom.facts.device, !oom.facts.caught));
  if (oom.retained_by.empty()) return;
  const auto& first = oom.retained_by.front();
  const bool is_much = first.bytes >= oom.facts.totals.allocated / 2;
  if (is_much) oom.fix = remedies::remedy_at_failure(first);
  for (std::size_t i = 0; i < oom.retained_by.size() && !oom.fix; ++i) {
    const auto& one = oom.retained_by[i];
    constexpr std::uint64_t least_part = 10;  // of what was allocated, to be worth a line
    if (one.bytes < std::max(oom.facts.requested, oom.facts.totals.allocated / least_part)) break;
    oom.fix = remedies::unread_at_failure(one, oom.frames, false, names);
    if (!oom.fix) oom.fix = remedies::unread_at_failure(one, oom.forward, true, names);
    oom.fix_is_for = i;
  }
}

// Without PyTorch nothing tells the loading of weights, which stay, from requests that leave something
// behind, unless the program marks its steps. Before summarize().
void doubt_inferred_steps(process_report& to) {
  if (!to.inferred_steps) return;
  for (auto& one : to.findings.verdicts) {
    const bool is_of_calls = std::ranges::any_of(to.devices, [&](const device_report& device) {
      return device.from_cuda_calls && device.facts.device == one.about.device;
    });
    const bool grows = verdicts::answer_of(one) == verdicts::answer::accumulates;
    if (!is_of_calls || !grows || one.about.kind == verdicts::subject_kind::host) continue;
    one.found.shape = growth::shape::unknown;
    one.may_be_loading = true;
    one.summary.clear();
    one.steps_to_oom = one.ns_to_oom = std::nullopt;
    one.elsewhere.clear();
  }
}

// Of a program that ran out of memory before anything came back: in its first training step, and of one
// without a backward pass yet a graph that one variable keeps, or a statement that runs, is that of the pass
// that runs. Before summarize().
void doubt_first_pass(const attribution::result& attributed, process_report& to) {
  if (decisive_oom(to) == nullptr) return;
  constexpr auto by_graph = format::held_graph | format::held_has_graph;
  for (auto& one : to.findings.verdicts) {
    if (one.unit != "event window" || one.suspects.empty()) continue;
    const auto& kept = one.suspects.front().retained_by;
    const bool has_one = !kept.empty() && (kept.front().container.empty() ||
                                           (kept.front().flags & format::held_statement) != 0);
    const bool by_variable = has_one && (kept.front().flags & by_graph) != 0;
    if (attributed.has_backward || by_variable) one.found.shape = growth::shape::unknown;
  }
}

// Where memory has run out nobody is told when it will. Before summarize().
void forget_forecasts(process_report& to) {
  for (auto& one : to.findings.verdicts) {
    const bool is_full = std::ranges::any_of(
        to.ooms, [&](const oom_report& oom) { return oom.facts.device == one.about.device; });
    if (!is_full || one.about.kind == verdicts::subject_kind::host) continue;
    if (one.summary == verdicts::summary_of(one)) one.summary.clear();
    one.has_been_full = true;
    one.steps_to_oom = one.ns_to_oom = std::nullopt;
  }
}

}  // namespace

void add_verdicts(const trace::dictionary& names, const replay::replayer& replayed,
                  const attribution::result& attributed, const verdicts::collector& lives,
                  const verdict_options& how, const remedies::empty_cache_use& cache_use,
                  process_report& to) {
  const auto ends = ends_of_steps(attributed);
  auto& findings = to.findings;
  findings = verdicts::conclude(lives, replayed, names, how.unit, how.suppressions);
  add_host_verdicts(
      host::judge_host(to.host, replayed.driver().pinned_changes(), ends, known_steps_of(findings)),
      to.devices, findings.verdicts);
  verdicts::mark_expected(findings, names);
  remedies::prescribe(findings, names, {to.run.alloc_conf, attributed.has_backward});
  forget_forecasts(to);
  doubt_inferred_steps(to);
  doubt_first_pass(attributed, to);
  verdicts::summarize(findings);
  add_retainers(lives.kept(), names, to);
  if (auto habit = cache_use.finish(steps_of(attributed), ends)) {
    findings.habits.push_back(std::move(*habit));
  }
  to.verdict_frames = frames_of_findings(names, replayed, to);
}

}  // namespace memtrace::run
