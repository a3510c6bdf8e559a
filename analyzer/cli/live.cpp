// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/App.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "analyzer/cli/command.h"
#include "analyzer/cli/log.h"
#include "analyzer/cli/write_file.h"
#include "analyzer/live/facts_json.h"
#include "analyzer/live/session.h"

namespace memtrace::cli {

namespace {

struct live_options {
  std::string what;
  bool once = false;
  std::string json;
  double interval = 1;
};

constexpr double shortest = 0.1;
constexpr double longest = 3600;

int follow(const live_options& chosen) {
  auto wanted = live::understand(chosen.what);
  if (!wanted) {
    log::error("{}", wanted.failure().message);
    return failure;
  }
  live::session session(*wanted);
  const auto interval = std::chrono::milliseconds(static_cast<int>(chosen.interval * 1000));
  session.poll(std::chrono::milliseconds(100));
  if (session.is_empty()) {
    log::error("{}", session.complaint().empty() ? live::why_none(*wanted) : session.complaint());
    return failure;
  }
  if (!chosen.once) {
    const int status = live::watch(session, interval);
    // A report that is in work is not waited for.
    if (session.reports().is_busy()) ::_exit(status);
    return status;
  }
  while (session.has_more()) session.poll(std::chrono::seconds(1));
  const auto known = session.known();
  bool written = true;
  if (!chosen.json.empty()) written = write_all(chosen.json, live::facts_json(known));
  if (chosen.json != "-") live::print_once(known);
  return std::fflush(stdout) == 0 && written ? success : failure;
}

}  // namespace

action add_live(CLI::App& app) {
  const auto chosen = std::make_shared<live_options>();
  app.add_option("TRACE|DIR|PID", chosen->what,
                 "A trace, a directory with the traces of a run, or a process that is recorded "
                 "(default: what grows in the current directory)");
  auto* const once = app.add_flag("--once", chosen->once, "Print one frame and exit, for scripts");
  app.add_option("--json", chosen->json, "Also write its figures as JSON; - for standard output")
      ->needs(once);
  app.add_option("--interval", chosen->interval, "Seconds from one look to the next (default: 1)")
      ->type_name("SECONDS")
      ->check(CLI::Range(shortest, longest));
  return [chosen](const program&) { return follow(*chosen); };
}

}  // namespace memtrace::cli
