// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/run/model/module_tree.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::terminal {

namespace {

constexpr std::size_t most_own = 6;  // phases of the program, on a line

[[nodiscard]] std::string share_of(std::uint64_t part, std::uint64_t whole) {
  const auto share = text::percent(part, whole);
  return share < 1 ? fmt::format("{:.2f} %", share) : fmt::format("{:.1f} %", share);
}

// The places that hold most of it, the same line once.
[[nodiscard]] std::string places(const std::vector<run::fp32_place>& found) {
  std::map<std::string, std::uint64_t> by_line;
  for (const auto& place : found) {
    by_line[code::short_place(place.frames, place.thread)] += place.bytes;
  }
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const auto& [line, bytes] : by_line) order.emplace_back(bytes, line);
  std::ranges::sort(order, std::greater());
  std::vector<std::string> parts;
  for (const auto& [bytes, line] : order) {
    if (parts.size() == 3) {
      parts.emplace_back(fmt::format("{} more lines", order.size() - 3));
      break;
    }
    parts.push_back(fmt::format("{} {}", line, text::format_bytes(bytes)));
  }
  return text::join(parts, ", ");
}

// GPT.h.* (12), Head
[[nodiscard]] std::string names_of(const std::vector<attribution::checkpointed_module>& modules) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& module : modules) {
    ++counts[module.path.empty() ? module.root
                                 : module.root + "." + run::without_numbers(module.path)];
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    if (parts.size() == 3) {
      parts.emplace_back(fmt::format("{} more", counts.size() - 3));
      break;
    }
    parts.push_back(count == 1 ? name : fmt::format("{} ({})", name, count));
  }
  return text::join(parts, ", ");
}

[[nodiscard]] std::string describe_amp(const run::training_report& training,
                                       const run::device_report& device) {
  if (!training.autocast) return "AMP off";
  std::uint64_t bytes = 0;
  for (const auto& place : device.fp32_under_autocast) bytes += place.bytes;
  if (bytes == 0) return "AMP on";
  return fmt::format("AMP on, yet {} of activations are 32-bit: {}", text::format_bytes(bytes),
                     places(device.fp32_under_autocast));
}

constexpr std::size_t most_refused = 2;

[[nodiscard]] const capability_row& row_of(capability which) {
  return capability_rows[static_cast<std::size_t>(which)];
}

[[nodiscard]] bool was_on(const run::recording_facts& recording, capability which) {
  return std::ranges::find(recording.capabilities, row_of(which).name) !=
         recording.capabilities.end();
}

// Memory that accumulates, and nobody saw what keeps it.
[[nodiscard]] bool lacks_a_retainer(const run::process_report& process) {
  return std::ranges::any_of(process.findings.verdicts, [](const verdicts::verdict& about) {
    return std::ranges::any_of(
        about.suspects, [](const verdicts::suspect& one) { return one.retained_by.empty(); });
  });
}

void add_refused(const run::recording_facts& recording, std::vector<std::string>& to) {
  for (const auto& [name, reason] : recording.refused) {
    const auto* const row = std::ranges::find(capability_rows, name, &capability_row::name);
    if (row == std::end(capability_rows)) continue;
    if (to.size() == most_refused) break;
    to.push_back(fmt::format("Not recorded: {} ({})", row->lacks, reason));
  }
}

}  // namespace

bool knows_phases(const run::device_report& device) {
  return std::ranges::any_of(device.phases, [](const run::phase_report& one) {
    return one.which != attribution::phase::setup && one.which != attribution::phase::other;
  });
}

std::string when_in_training(const run::device_report& device, const run::memory_view& view) {
  const auto where = knows_phases(device) ? words_of(view.during) : std::string();
  if (!view.step) return where.empty() ? where : "in " + where;
  if (where.empty()) return fmt::format("in step {}", *view.step);
  return fmt::format("in {} of step {}", where, *view.step);
}

void add_phases_and_steps(text::page& out, const run::process_report& process,
                          const run::device_report& device) {
  std::vector<std::string> parts;
  for (const auto& one : device.phases) {
    if (one.at_peak.total == 0) continue;
    parts.push_back(
        fmt::format("{} {}", short_words_of(one.which), text::format_bytes(one.at_peak.total)));
  }
  if (parts.size() > 1 && knows_phases(device))
    out.sentence("Highest in each phase: " + text::join(parts, ", "));
  std::vector<std::string> own;
  for (const auto& [name, found] : device.named_phases) {
    const bool enough = own.size() == most_own;
    own.push_back(enough ? "…" : fmt::format("{} {}", name, text::format_bytes(found.peak)));
    if (enough) break;
  }
  if (!own.empty()) out.line("In the program's own phases: " + text::join(own, ", "));
  const auto& steps = device.steps;
  if (steps.boundary == attribution::step_boundary::inferred && process.inferred_steps) {
    const auto& found = *process.inferred_steps;
    const auto place = found.begins_at.empty() ? std::string()
                                               : " at " + code::describe_place(found.begins_at, {});
    out.line(
        fmt::format("Steps: {}, inferred: the same allocations recur{} (confidence {:.2f}); "
                    "the program marks none",
                    text::format_count(steps.count), place, found.confidence));
  }
}

void add_training(text::page& out, const run::process_report& process,
                  const run::device_report& device) {
  const auto& training = process.training;
  // A model that only answers has parameters, too.
  const bool trains = std::ranges::any_of(device.phases, [](const run::phase_report& one) {
    return one.which == attribution::phase::backward || one.which == attribution::phase::optimizer;
  });
  if (training.parameters == 0 || !trains) return;
  const auto amp = describe_amp(training, device);
  const auto checkpointing = training.checkpointed.empty()
                                 ? std::string("no checkpointing")
                                 : "checkpointing of " + names_of(training.checkpointed);
  const auto trainable =
      training.trainable_bytes == training.parameter_bytes
          ? fmt::format("all {} of parameters trainable",
                        text::format_bytes(training.parameter_bytes))
          : fmt::format("{} of {} of parameters trainable ({})",
                        text::format_bytes(training.trainable_bytes),
                        text::format_bytes(training.parameter_bytes),
                        share_of(training.trainable_bytes, training.parameter_bytes));
  const auto line = fmt::format("Training: {}; {}", checkpointing, trainable);
  if (amp.size() < 10) {
    out.line(line + "; " + amp);
  } else {
    out.line(line);
    out.line(amp);
  }
}

std::vector<std::string> unknown_meaning(const run::process_report& process) {
  const auto& run = process.run;
  if (process.devices.empty()) return {};
  if (run.snapshot) return what_a_snapshot_lacks(*run.snapshot);
  auto found = recording_notes(process);
  // Of what CUDA's calls got nothing else could be told.
  const bool has_only_calls =
      std::ranges::all_of(process.devices, &run::device_report::from_cuda_calls);
  if (is_off_by_mode(run, capability::agent) || (has_only_calls && run.python.empty()))
    return found;
  if (run.agent.empty() && run.autograd.empty()) {
    const char* const why = run.torch.empty() && run.python.empty() ? "no Python in this program"
                            : run.torch.empty()                     ? "no PyTorch in this program"
                                                                    : "an older recording";
    found.push_back(
        fmt::format("Nothing told what the memory is ({}): categories are guesses", why));
    return found;
  }
  if (run.agent.empty()) {
    found.emplace_back("Names of modules and parameters are not known: the agent did not start");
  } else if (run.agent.starts_with("without ")) {
    found.push_back("The agent in the program works " + run.agent);
  } else if (run.agent != "on") {
    found.push_back("Names of modules and parameters are not known: " + run.agent);
  }
  if (run.autograd.empty()) {
    found.emplace_back("Autograd did not run, or was not seen");
  } else if (run.autograd != "on") {
    found.push_back("Not seen of autograd: " + run.autograd);
  }
  return found;
}

bool is_off_by_mode(const run::run_facts& run, capability which) {
  if (!run.recording || was_on(*run.recording, which)) return false;
  const auto mode = recording_mode_named(run.recording->mode);
  return mode && !is_on_by_default(row_of(which), *mode);
}

std::string unmatched_expectations(const run::run_report& processes,
                                   const run::process_report& shown) {
  constexpr std::size_t most = 3;
  std::vector<std::string> parts;
  for (const auto& [said, count] : shown.findings.expectations) {
    const auto is_same = [&said = said](const verdicts::used_expectation& one) {
      return one.verdicts != 0 && one.said.by == verdicts::said_by::file &&
             one.said.file == said.file && one.said.line == said.line;
    };
    // A line of a file is for all processes of the run.
    const bool matched =
        count != 0 || std::ranges::any_of(processes, [&](const run::process_report& process) {
          return std::ranges::any_of(process.findings.expectations, is_same);
        });
    if (matched) continue;
    parts.push_back(fmt::format("`{}` ({}:{})", said.what, text::file_name(said.file), said.line));
  }
  if (parts.empty()) return {};
  const auto more = parts.size() - std::min(parts.size(), most);
  parts.resize(parts.size() - more);
  return fmt::format("Expected to grow, and nothing that does is called so: {}{}",
                     text::join(parts, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::vector<std::string> recording_notes(const run::process_report& process) {
  std::vector<std::string> found;
  const auto& run = process.run;
  if (!run.recording) return found;
  add_refused(*run.recording, found);
  if (is_off_by_mode(run, capability::agent)) {
    found.push_back(fmt::format("Recorded with MEMTRACE={}, without {}, and {}; standard has them",
                                run.recording->mode, row_of(capability::agent).lacks,
                                row_of(capability::census).lacks));
  } else if (is_off_by_mode(run, capability::step_census) && lacks_a_retainer(process) &&
             !run.python.empty()) {
    found.push_back(fmt::format("Recorded with MEMTRACE={}; full also tells {}",
                                run.recording->mode, row_of(capability::step_census).lacks));
  }
  return found;
}

}  // namespace memtrace::terminal
