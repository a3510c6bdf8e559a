// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/cli/command.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/show_report.h"
#include "analyzer/report/json.h"
#include "analyzer/trace/find_traces.h"

namespace memtrace::cli {

namespace {

[[nodiscard]] bool write_all(const std::string& path, const std::string& text) {
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr)
    written = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && written;
  if (!written && errno != EPIPE) {
    std::fprintf(stderr, "memtrace: %s: the report cannot be written: %s\n", path.c_str(),
                 std::strerror(errno));
  }
  return written;
}

int report(const std::vector<std::string>& names, const std::string& json) {
  auto paths = trace::find_traces(names);
  if (!paths) {
    complain({}, paths.failure());
    return failure;
  }
  auto loaded = load_traces(*paths);
  if (loaded.processes.empty()) return failure;
  bool written = true;
  if (!json.empty()) written = write_all(json, report::to_json(loaded.processes));
  if (json != "-") {
    print_report(loaded.processes, stdout);
    written = std::fflush(stdout) == 0 && written;
  }
  return loaded.complete && written ? success : failure;
}

}  // namespace

action add_report(CLI::App& app) {
  struct options {
    std::vector<std::string> traces;
    std::string json;
  };
  const auto chosen = std::make_shared<options>();
  app.add_option("TRACE", chosen->traces, "Traces, or directories with traces: one run")
      ->required();
  app.add_option("--json", chosen->json, "Also write the report as JSON; - for standard output");
  return [chosen](const program&) { return report(chosen->traces, chosen->json); };
}

}  // namespace memtrace::cli
