// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/base/text/utf8.h"
#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/show_report.h"
#include "analyzer/cli/io/suppressions.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/run/check/findings.h"
#include "analyzer/run/check/text.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/show/json/report.h"

namespace memtrace::cli {

namespace {

constexpr int all_hold = success, is_broken = 1, cannot_tell = 2;

struct check_options {
  std::vector<std::string> traces, against;
  std::optional<std::string> max_peak, max_reserved, tolerance;  // given empty, they are told
  bool no_leaks = false;
  bool github = false;
  std::string json, junit, sarif, suppressions;
};

[[nodiscard]] bool read_limit(const char* option, const std::optional<std::string>& text,
                              std::optional<std::uint64_t>& limit) {
  if (!text) return true;
  limit = check::parse_limit(*text);
  if (limit) return true;
  log::error("{0} {1}: write a number with its unit, such as {0} 20GiB (binary) or {0} 20GB (SI)",
             option, text->empty() ? std::string("\"\"") : *text);
  return false;
}

[[nodiscard]] bool read_tolerance(const check_options& chosen, check::limits& wanted) {
  if (!chosen.tolerance) {
    wanted.tolerance.percent = 2;
    return true;
  }
  if (chosen.against.empty()) {
    log::error("--tolerance is of --against: name the run to compare with, --against BEFORE");
    return false;
  }
  const auto allowed = check::parse_tolerance(*chosen.tolerance);
  if (allowed) {
    wanted.tolerance = *allowed;
    return true;
  }
  log::error("--tolerance {}: write a share or a size, such as --tolerance 2% or 64MiB",
             *chosen.tolerance);
  return false;
}

[[nodiscard]] std::ptrdiff_t documents_on_output(const check_options& chosen) {
  return std::ranges::count(std::array{chosen.json, chosen.junit, chosen.sarif}, "-");
}

[[nodiscard]] bool understood(const check_options& chosen, check::limits& wanted) {
  wanted.no_leaks = chosen.no_leaks;
  if (!read_limit("--max-peak", chosen.max_peak, wanted.max_peak) ||
      !read_limit("--max-reserved", chosen.max_reserved, wanted.max_reserved) ||
      !read_tolerance(chosen, wanted)) {
    return false;
  }
  if (!wanted.max_peak && !wanted.max_reserved && !wanted.no_leaks && chosen.against.empty()) {
    log::error(
        "there is nothing to check: give a limit, such as --max-peak 20GiB, --max-reserved 22GiB, "
        "--no-leaks or --against BEFORE");
    return false;
  }
  const auto documents = documents_on_output(chosen);
  if (documents > 1 || (documents == 1 && chosen.github)) {
    log::error("only one of --json -, --junit -, --sarif - and --github can have standard output");
    return false;
  }
  return true;
}

// The traces of both runs; false, after one sentence, when one of them is not there.
[[nodiscard]] bool find_runs(const check_options& chosen, as_json::checked_run& run) {
  const auto now = find_only(chosen.traces);
  if (!now) return false;
  run.traces = *now;
  if (chosen.against.empty()) return true;
  const auto before = find_only(chosen.against);
  if (!before) return false;
  run.baseline = *before;
  if (const auto* const same = in_both(run.traces, run.baseline)) {
    log::error("{}: is in both runs; name an earlier run after --against", *same);
    return false;
  }
  return true;
}

// Nothing is known about a trace that could not be read.
void tell_unread(const std::vector<std::string>& paths, const run::run_report& processes,
                 std::vector<check::finding>& findings) {
  for (const auto& path : paths) {
    if (std::ranges::find(processes, path, &run::process_report::path) != processes.end()) continue;
    check::finding one;
    one.check = "trace";
    one.subject = one.who = path;
    one.sentence = "it cannot be read";
    findings.push_back(std::move(one));
  }
}

[[nodiscard]] std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// Code scanning knows files by their paths below the checked out repository.
[[nodiscard]] std::string repository_or(const std::string& here) {
  const auto workspace = variable("GITHUB_WORKSPACE");
  return workspace.empty() ? here : workspace;
}

[[nodiscard]] bool show(const as_json::checked_run& run, const check_options& chosen) {
  std::error_code failed;
  const auto here = std::filesystem::current_path(failed).string();
  bool written = true;
  if (!chosen.json.empty()) written = write_json(chosen.json, as_json::to_json(run));
  if (!chosen.junit.empty()) {
    written = write_all(chosen.junit, check::to_junit(run.findings, here)) && written;
  }
  if (!chosen.sarif.empty()) {
    written = write_json(chosen.sarif, as_json::to_sarif(run, repository_or(here))) && written;
  }
  if (documents_on_output(chosen) != 0) return written;
  auto text = fmt::format("{:<7} {}\n", "run", text::printable(run.headline));
  text += check::to_text(run.findings, here);
  if (chosen.github) text += check::to_github(run.findings, variable("GITHUB_WORKSPACE"));
  return write_all("-", text) && written;
}

int check_run(const check_options& chosen) {
  as_json::checked_run run;
  if (!understood(chosen, run.wanted)) return cannot_tell;
  if (!find_runs(chosen, run)) return cannot_tell;
  auto expected = read_suppressions(chosen.suppressions);
  if (!expected) return cannot_tell;
  const run::load_options how{.suppressions = std::move(*expected)};
  const auto now = load_traces(run.traces, how);
  if (now.processes.empty()) return cannot_tell;
  run.headline = run::text_of(run::headline_of(now.processes));
  loaded_report before;
  if (!chosen.against.empty()) {
    before = load_traces(run.baseline, how);
    if (before.processes.size() != run.baseline.size()) return cannot_tell;
    run.wanted.against = &before.processes;
  }
  run.findings = check::judge(now.processes, run.wanted);
  if (run.findings.empty()) {
    log::error(
        "{}: no memory of a GPU was recorded, so that there is nothing to check; did the program "
        "use CUDA?",
        run.traces.front());
    return cannot_tell;
  }
  tell_unread(run.traces, now.processes, run.findings);
  const bool written = show(run, chosen);
  switch (check::worst(run.findings)) {
    case check::outcome::broken:
      return is_broken;
    case check::outcome::ok:
      return written ? all_hold : cannot_tell;
    case check::outcome::unknown:
      break;
  }
  return cannot_tell;
}

// A failure of ours must not look like a limit that is broken.
int check_or_cannot_tell(const check_options& chosen) {
  try {
    return check_run(chosen);
  } catch (const std::exception& error) {
    log::error("{}", error.what());
    return cannot_tell;
  }
}

}  // namespace

action add_check(CLI::App& app) {
  const auto chosen = std::make_shared<check_options>();
  app.add_option("TRACE", chosen->traces, "Traces, or directories with the traces of one run")
      ->required();
  app.add_option("--max-peak", chosen->max_peak,
                 "The most that may be allocated on a device, as 20GiB or 20GB")
      ->type_name("SIZE");
  app.add_option("--max-reserved", chosen->max_reserved,
                 "The most that PyTorch may reserve on a device, the same")
      ->type_name("SIZE");
  app.add_flag("--no-leaks", chosen->no_leaks, "No memory may grow from step to step");
  app.add_option("--against", chosen->against,
                 "An earlier run, a trace or a directory: peaks may not be higher than its")
      ->type_name("TRACE")
      ->allow_extra_args(false);
  app.add_option("--tolerance", chosen->tolerance,
                 "How much more than the earlier run, as 2% (default) or 64MiB")
      ->type_name("SHARE");
  add_suppressions(app, chosen->suppressions);
  add_json_option(app, chosen->json);
  app.add_option("--junit", chosen->junit, "Also write it as JUnit's XML; - for standard output")
      ->type_name("FILE");
  app.add_option("--sarif", chosen->sarif,
                 "Also write what does not hold as SARIF, for code scanning; - for standard output")
      ->type_name("FILE");
  app.add_flag("--github", chosen->github, "Also print annotations for GitHub Actions");
  return [chosen](const program&) { return check_or_cannot_tell(*chosen); };
}

}  // namespace memtrace::cli
