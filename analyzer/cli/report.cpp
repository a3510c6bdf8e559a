// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/cli/command.h"
#include "analyzer/cli/log.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/show_report.h"
#include "analyzer/cli/write_file.h"
#include "analyzer/json/report.h"
#include "analyzer/terminal/views.h"

namespace memtrace::cli {

namespace {

struct report_options {
  std::vector<std::string> traces;
  std::string json;
  bool blocks = false;
  std::string at;
  std::string by;
};

[[nodiscard]] bool understood(const report_options& chosen) {
  if (!chosen.at.empty() && !run::parse_moment(chosen.at)) {
    log::error("--at {}: write event:1234, step:7 or step:7/backward (steps count from 0)",
               chosen.at);
    return false;
  }
  if (!chosen.by.empty() && !terminal::view_named(chosen.by)) {
    log::error(
        "--by {}: choose category, module, site, phase, parameter, step, fragmentation, "
        "advice, expected or rank",
        chosen.by);
    return false;
  }
  return true;
}

int show(const report_options& chosen) {
  if (!understood(chosen)) return usage;
  const auto paths = find(chosen.traces);
  if (!paths) return failure;
  run::load_options wanted;
  wanted.blocks = chosen.blocks;
  if (!chosen.at.empty()) wanted.at = run::parse_moment(chosen.at);
  auto loaded = load_traces(*paths, wanted);
  if (loaded.processes.empty()) return failure;
  bool written = true;
  if (!chosen.json.empty()) {
    written = write_all(chosen.json, as_json::to_json(loaded.processes, chosen.blocks));
  }
  if (chosen.json != "-") {
    print_report(loaded.processes, stdout, terminal::view_named(chosen.by));
    written = std::fflush(stdout) == 0 && written;
  }
  return loaded.complete && written ? success : failure;
}

}  // namespace

action add_report(CLI::App& app) {
  const auto chosen = std::make_shared<report_options>();
  app.add_option("TRACE", chosen->traces, "Traces, or directories with traces: one run")
      ->required();
  app.add_option("--json", chosen->json, "Also write the report as JSON; - for standard output");
  app.add_flag("--blocks", chosen->blocks, "List every block in the JSON");
  app.add_option("--at", chosen->at,
                 "Another moment than the peak: event:N, step:N or step:N/PHASE, from 0");
  app.add_option("--by", chosen->by,
                 "All rows of one kind: category, module, site, phase, parameter, step, "
                 "fragmentation, advice, expected or rank");
  return [chosen](const program&) { return show(*chosen); };
}

}  // namespace memtrace::cli
