// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/show_report.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/show/audit/audit.h"

namespace memtrace::cli {

namespace {

constexpr std::size_t shown_at_most = 10;

struct audit_options {
  std::vector<std::string> traces;
  std::string json;
  bool all = false;
};

[[nodiscard]] bool print(const std::vector<audit::trace_audit>& audits, std::size_t shown) {
  for (const auto& one : audits) {
    if (&one != audits.data()) std::fputc('\n', stdout);
    const auto text = audit::to_text(one, shown, style_for(stdout));
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return std::fflush(stdout) == 0;
}

[[nodiscard]] int exit_code_of(const std::vector<audit::trace_audit>& audits) {
  auto worst = audit::agreement::same;
  for (const auto& one : audits) worst = std::max(worst, one.verdict);
  switch (worst) {
    case audit::agreement::same:
      return success;
    case audit::agreement::different:
      return different;
    case audit::agreement::nothing:
    case audit::agreement::no_witness:
      break;
  }
  return no_witness;
}

int show(const audit_options& chosen) {
  const auto paths = find(chosen.traces);
  if (!paths) return failure;
  std::vector<audit::trace_audit> audits;
  const bool complete = each_trace(*paths, [&](const std::string& path, trace::reader& reader) {
    return sentences_of(audits.emplace_back(audit::audit_trace(path, reader)).facts);
  });
  if (audits.empty()) return failure;
  bool written = true;
  if (!chosen.json.empty()) written = write_json(chosen.json, audit::to_json(audits));
  if (chosen.json != "-") written = print(audits, chosen.all ? 0 : shown_at_most) && written;
  return complete && written ? exit_code_of(audits) : failure;
}

}  // namespace

action add_audit(CLI::App& app) {
  const auto chosen = std::make_shared<audit_options>();
  app.add_option("TRACE", chosen->traces,
                 "Traces recorded with MEMTRACE_CUPTI=1, or directories with traces")
      ->required();
  add_json_option(app, chosen->json);
  app.add_flag("--all", chosen->all, "Every allocation that one of them missed");
  return [chosen](const program&) { return show(*chosen); };
}

}  // namespace memtrace::cli
