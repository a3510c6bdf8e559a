// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/recording.h"

#include <fmt/core.h>

#include <algorithm>

namespace memtrace::terminal {

namespace {

constexpr std::size_t most_refused = 2;

[[nodiscard]] const capability_row& row_of(capability which) {
  return capability_rows[static_cast<std::size_t>(which)];
}

[[nodiscard]] bool was_on(const run::recording_facts& recording, capability which) {
  return std::ranges::find(recording.capabilities, row_of(which).name) !=
         recording.capabilities.end();
}

// Memory that accumulates, and nobody saw what keeps it.
[[nodiscard]] bool lacks_a_keeper(const run::process_report& process) {
  return std::ranges::any_of(process.findings.verdicts, [](const verdicts::verdict& about) {
    return std::ranges::any_of(
        about.culprits, [](const verdicts::culprit& one) { return one.retained_by.empty(); });
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

bool is_off_by_mode(const run::run_facts& run, capability which) {
  if (!run.recording || was_on(*run.recording, which)) return false;
  const auto mode = recording_mode_named(run.recording->mode);
  return mode && !is_on_by_default(row_of(which), *mode);
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
  } else if (is_off_by_mode(run, capability::step_census) && lacks_a_keeper(process)) {
    found.push_back(fmt::format("Recorded with MEMTRACE={}; full also tells {}",
                                run.recording->mode, row_of(capability::step_census).lacks));
  }
  return found;
}

}  // namespace memtrace::terminal
