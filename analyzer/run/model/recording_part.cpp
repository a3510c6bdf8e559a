// SPDX-License-Identifier: Apache-2.0
//
// The program and its recording: who ran, with what, and how well it was recorded.
#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

#include "analyzer/base/text/numbers.h"
#include "analyzer/model/allocator/settings_of_environment.h"
#include "analyzer/run/model/parts.h"
#include "memtrace/capabilities.h"
#include "memtrace/environment.h"

namespace memtrace::run {

namespace {

namespace key = format::info_key;

[[nodiscard]] std::vector<std::string> split_command(std::string_view arguments) {
  std::vector<std::string> parts;
  while (!arguments.empty()) {
    const auto end = std::min(arguments.find('\0'), arguments.size());
    parts.emplace_back(arguments.substr(0, end));
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
  return parts;
}

// 13000 → 13.0, as cudaRuntimeGetVersion counts.
[[nodiscard]] std::string cuda_version(const std::string& number) {
  const auto value = text::number_in(number);
  return value ? fmt::format("{}.{}", *value / 1000, *value % 1000 / 10) : std::string();
}

[[nodiscard]] std::optional<recording_facts> build_recording(const replay::replayer& replayed) {
  recording_facts made;
  made.mode = replayed.info(key::mode);
  if (!recording_mode_named(made.mode)) return std::nullopt;
  std::istringstream names(replayed.info(key::capabilities));
  for (std::string name; names >> name;) made.capabilities.push_back(name);
  for (const std::string& one : replayed.refused()) {
    const auto colon = std::min(one.find(": "), one.size());
    made.refused.emplace_back(one.substr(0, colon), one.substr(std::min(colon + 2, one.size())));
  }
  return made;
}

[[nodiscard]] std::optional<snapshot_facts> build_snapshot(const replay::replayer& replayed) {
  const auto source = replayed.info(key::source);
  const bool of_profiler = source == "profiler_trace";
  if (!of_profiler && source != "pytorch_snapshot") return std::nullopt;
  const auto number = [&](const char* name) {
    return text::number_in(replayed.info(name)).value_or(0);
  };
  snapshot_facts made;
  made.of_profiler = of_profiler;
  made.history = replayed.info(key::snapshot_history);
  made.held = number(key::snapshot_held);
  made.stacks = replayed.info(key::snapshot_stacks);
  made.backward = replayed.info(key::snapshot_backward);
  made.times = replayed.info(key::snapshot_times) == "yes";
  made.agrees = replayed.info(key::snapshot_end) == "equal";
  made.contradictions = number(key::snapshot_contradictions);
  made.skipped = number(key::snapshot_skipped);
  return made;
}

[[nodiscard]] run_facts build_run(const format::file_header& header,
                                  const trace::completeness& completeness,
                                  const replay::replayer& replayed) {
  const auto info = [&](const char* name) { return replayed.info(name); };
  run_facts run;
  run.command = split_command(replayed.info(key::command));
  run.pid = header.process_id;
  run.rank = text::number_in(info(key::rank));
  run.local_rank = text::number_in(info(key::local_rank));
  run.world_size = text::number_in(info(key::world_size));
  std::istringstream running(std::string(info(key::running_ranks)));
  for (std::string one; std::getline(running, one, ',');) {
    if (const auto rank = text::number_in(one)) run.running_ranks.push_back(*rank);
  }
  run.host = info(key::host);
  run.started_ns = header.start_realtime_ns;
  run.duration_ns = completeness.end_time_ns;
  run.allocated_before = text::number_in(info(key::found));
  run.exit_status = text::number_in(info(key::exit_status));
  run.torch = info(key::torch);
  run.cuda = cuda_version(info(key::cuda_runtime));
  run.python = info(key::python);
  allocator::settings_of_environment settings;
  for (const auto& [name, value] : replayed.infos("")) settings.info(name, value);
  for (const auto& text : replayed.settings()) settings.told(text);
  run.alloc_conf = replayed.settings().empty() ? settings.in_force() : replayed.settings().back();
  if (!replayed.devices().empty()) run.settings_without_effect = settings.without_effect();
  run.simulated_gpu = info(key::simulated);
  run.python_stacks = info(key::python_stacks);
  run.event_source = info(key::event_source);
  run.agent = info(key::agent);
  run.autograd = info(key::autograd);
  run.recording = build_recording(replayed);
  run.snapshot = build_snapshot(replayed);
  for (const auto& [name, value] : replayed.infos(format::environment_prefix)) {
    run.environment.emplace_back(name, value);
  }
  return run;
}

}  // namespace

void add_recording(const trace::dictionary& names, const format::file_header& header,
                   const trace::completeness& completeness, const replay::replayer& replayed,
                   process_report& to) {
  to.run = build_run(header, completeness, replayed);
  to.run.unknown_sizes = code::unknown_sizes(names, replayed.unknown_reads());
  to.completeness = completeness;
  to.stacks = replayed.stacks();
  to.warnings = replayed.warnings();
  to.unknown_entry_points = replayed.unknown().all();
}

}  // namespace memtrace::run
