// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/show_report.h"
#include "analyzer/cli/io/suppressions.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/show/diff/diff.h"
#include "analyzer/show/html/page.h"

namespace memtrace::cli {

namespace {

struct diff_options {
  std::vector<std::string> both;  // BEFORE AFTER
  std::vector<std::string> before, after;
  std::string json;
  std::string html;
  std::string suppressions;
  bool force = false;
};

// The runs by name: BEFORE AFTER, or any number after --before and --after.
[[nodiscard]] bool named_two_runs(diff_options& chosen) {
  if (chosen.both.size() == 2 && chosen.before.empty() && chosen.after.empty()) {
    chosen.before = {chosen.both[0]};
    chosen.after = {chosen.both[1]};
    return true;
  }
  if (chosen.both.empty() && !chosen.before.empty() && !chosen.after.empty()) return true;
  log::error(
      "name two runs, each a trace or a directory: memtrace diff BEFORE AFTER; or several "
      "traces each: --before A B --after C D");
  return false;
}

int show(diff_options chosen) {
  if (!named_two_runs(chosen)) return usage;
  if (!may_write(chosen.html, chosen.force)) return failure;
  const auto before_paths = find_newest(chosen.before);
  if (!before_paths) return failure;
  const auto after_paths = find_newest(chosen.after);
  if (!after_paths) return failure;
  if (const auto* const same = in_both(*before_paths, *after_paths)) {
    log::error("{}: is in both runs; a run differs from itself in nothing", *same);
    return failure;
  }
  auto expected = read_suppressions(chosen.suppressions);
  if (!expected) return usage;
  const run::load_options with{.suppressions = std::move(*expected)};
  const auto before = load_traces(*before_paths, with);
  const auto after = load_traces(*after_paths, with);
  if (before.processes.empty() || after.processes.empty()) return failure;
  const auto difference = diff::compare(before.processes, after.processes);
  bool written = true;
  if (!chosen.json.empty()) written = write_json(chosen.json, diff::to_json(difference));
  if (!chosen.html.empty()) {
    html::page_options how;
    how.version = MEMTRACE_VERSION;
    written = write_page(chosen.html, html::difference_page(difference, how)) && written;
  }
  if (chosen.json != "-" && chosen.html != "-") {
    print_difference(difference, stdout);
    written = std::fflush(stdout) == 0 && written;
  }
  return before.complete && after.complete && written ? success : failure;
}

}  // namespace

action add_diff(CLI::App& app) {
  const auto chosen = std::make_shared<diff_options>();
  app.add_option("RUNS", chosen->both, "BEFORE and AFTER: a trace each, or a directory with traces")
      ->expected(0, 2);
  app.add_option("--before", chosen->before, "Several traces that are the run before")
      ->type_name("TRACE");
  app.add_option("--after", chosen->after, "Several traces that are the run after")
      ->type_name("TRACE");
  add_json_option(app, chosen->json);
  auto* const html = add_page_option(app, chosen->html, "Also write it as one HTML page");
  app.add_flag("--force", chosen->force, "Replace the page if it is there already")->needs(html);
  add_suppressions(app, chosen->suppressions);
  return [chosen](const program&) { return show(*chosen); };
}

}  // namespace memtrace::cli
