// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/help/page.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/show_report.h"
#include "analyzer/cli/io/suppressions.h"
#include "analyzer/cli/io/temporary_folder.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/run/model/model.h"
#include "analyzer/show/html/page.h"
#include "analyzer/show/json/report.h"
#include "analyzer/show/terminal/report.h"

namespace memtrace::cli {

namespace {

struct report_options {
  std::vector<std::string> traces;
  std::string json;
  bool blocks = false;
  std::string at;
  std::string by;
  std::string html;
  std::string suppressions;
  bool force = false;
  bool with_source = false;
  bool scrub = false;
};

// As terminal::view_named knows them.
[[nodiscard]] std::vector<std::string> kinds_of_rows() {
  return {"category", "module",        "site",   "phase",    "parameter", "name",
          "step",     "fragmentation", "advice", "expected", "rank"};
}

[[nodiscard]] bool understood(const report_options& chosen) {
  if (!chosen.at.empty() && !run::parse_moment(chosen.at)) {
    log::error("--at {}: write event:1234, step:7 or step:7/backward (steps count from 0)",
               chosen.at);
    return false;
  }
  if (!chosen.by.empty() && !terminal::view_named(chosen.by)) {
    log::error("--by {}: choose one of {}", chosen.by, CLI::detail::join(kinds_of_rows(), ", "));
    return false;
  }
  if (chosen.json == "-" && chosen.html == "-") {
    log::error("only one of --json - and --html - can have standard output");
    return false;
  }
  return true;
}

// Reads privacy copies, which are deleted afterwards.
[[nodiscard]] loaded_report load_scrubbed(const std::vector<std::string>& paths,
                                          const run::load_options& wanted) {
  const temporary_folder folder;
  if (folder.path().empty()) {
    log::error("no folder for the privacy copies can be made: set TMPDIR to one that is writable");
    return {};
  }
  const auto copies = make_scrubbed_copies(paths, folder.path());
  return copies ? load_traces(copies->paths, wanted) : loaded_report();
}

[[nodiscard]] bool show_page(const run::run_report& processes, const report_options& chosen) {
  html::page_options how;
  how.version = MEMTRACE_VERSION;
  how.with_source = chosen.with_source;
  how.scrubbed = chosen.scrub;
  return write_page(chosen.html, html::report_page(processes, how));
}

// --at step:99 of a run of five is no moment of it.
[[nodiscard]] bool has_moment(const run::run_report& processes, const std::string& at) {
  if (at.empty()) return true;
  std::uint64_t steps = 0;
  for (const auto& process : processes) {
    for (const auto& device : process.devices) {
      if (device.at) return true;
      steps = std::max(steps, device.steps.count);
    }
  }
  const auto known = steps == 0 ? std::string("no steps")
                                : fmt::format("steps 0 to {}", text::format_count(steps - 1));
  log::error("--at {}: the run has no such moment; it has {}", at, known);
  return false;
}

int show(const report_options& chosen) {
  if (!understood(chosen)) return usage;
  const auto paths = find_newest(chosen.traces);
  if (!paths || !may_write(chosen.html, chosen.force)) return failure;
  auto expected = read_suppressions(chosen.suppressions);
  if (!expected) return usage;
  for (auto& one : *expected) {
    if (chosen.scrub) one.file = std::string(text::file_name(one.file));
  }
  run::load_options wanted;
  wanted.suppressions = std::move(*expected);
  wanted.blocks = chosen.blocks;
  wanted.history = !chosen.html.empty();
  if (!chosen.at.empty()) wanted.at = run::parse_moment(chosen.at);
  auto loaded = chosen.scrub ? load_scrubbed(*paths, wanted) : load_traces(*paths, wanted);
  if (loaded.processes.empty() || !has_moment(loaded.processes, chosen.at)) return failure;
  bool written = true;
  if (!chosen.html.empty()) written = show_page(loaded.processes, chosen);
  if (!chosen.json.empty()) {
    written = written && write_json(chosen.json, as_json::to_json(loaded.processes, chosen.blocks));
  }
  if (chosen.json != "-" && chosen.html != "-") {
    print_report(loaded.processes, stdout, terminal::view_named(chosen.by));
    written = std::fflush(stdout) == 0 && written;
  }
  return loaded.complete && written ? success : failure;
}

}  // namespace

action add_report(CLI::App& app) {
  const auto chosen = std::make_shared<report_options>();
  app.add_option("TRACE", chosen->traces, "Traces, or directories: the newest run of each")
      ->required();
  add_json_option(app, chosen->json, "the report");
  auto* const html = add_page_option(app, chosen->html, "Also write the report as one HTML page");
  app.add_flag("--force", chosen->force, "Replace the page if it is there already")->needs(html);
  auto* const with_source =
      app.add_flag("--with-source", chosen->with_source,
                   "Into the page: the lines of your own files that allocations come from")
          ->needs(html);
  app.add_flag("--scrub", chosen->scrub,
               "Hide what memtrace scrub hides: the report of such copies")
      ->excludes(with_source);
  add_suppressions(app, chosen->suppressions);
  app.add_flag("--blocks", chosen->blocks, "List every block in the JSON");
  app.add_option("--at", chosen->at,
                 "Another moment than the peak: event:N, step:N or step:N/PHASE, from 0")
      ->type_name("MOMENT");
  app.add_option("--by", chosen->by,
                 "All rows of one kind: " + CLI::detail::join(kinds_of_rows(), ", "))
      ->type_name("KIND")
      ->check(help::known_values(kinds_of_rows()));
  return [chosen](const program&) { return show(*chosen); };
}

}  // namespace memtrace::cli
