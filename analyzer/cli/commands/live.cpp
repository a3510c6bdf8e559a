// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/cli/io/suppressions.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/show/html/page.h"
#include "analyzer/show/live/frame.h"
#include "analyzer/show/live/fresh_pages.h"
#include "analyzer/show/live/loopback_server.h"
#include "analyzer/show/live/session.h"

namespace memtrace::cli {

namespace {

struct live_options {
  std::string what;
  bool once = false;
  std::string json;
  std::string suppressions;
  double interval = 1;
  bool html = false;
  bool serve = false;
  std::uint16_t port = 0;
};

constexpr double shortest = 0.1;
constexpr double longest = 3600;

// The page of `memtrace report --html`, for a browser on this machine.
int serve(const live::recordings& wanted, const live_options& chosen) {
  live::fresh_pages pages(wanted, [](const run::run_report& processes, std::uint64_t number) {
    html::page_options how;
    how.version = MEMTRACE_VERSION;
    how.served = number;
    return html::report_page(processes, how);
  });
  auto opened = live::loopback_server::open(
      chosen.port, [&pages](std::string_view path) -> std::optional<live::reply> {
        if (path != "" && path != "state") return std::nullopt;
        const auto page = pages.latest();
        if (path.empty()) {
          return live::reply{"text/html; charset=utf-8", {page, &page->html}};
        }
        return live::reply{"application/json", std::make_shared<const std::string>(
                                                   fmt::format(R"({{"page":{}}})", page->number))};
      });
  if (const auto* const why = std::get_if<std::string>(&opened)) {
    log::error("{}", *why);
    return failure;
  }
  if (const auto why = pages.begin(); !why.empty()) {
    log::error("{}", why);
    return failure;
  }
  auto& server = std::get<live::loopback_server>(opened);
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  fmt::print(stderr,
             "memtrace: only this machine can open it, and whoever has the whole address; from "
             "another one first: ssh -L {0}:127.0.0.1:{0} HOST. Ctrl-C ends it; the program goes "
             "on.\n",
             server.port());
  server.run();
  // A page that is in work is not waited for.
  if (pages.is_busy()) ::_exit(success);
  return success;
}

// Of a directory that has no trace yet: until there is one, or a file that can be none.
void wait_for_start(live::session& session, const std::string& directory) {
  const auto below = folders_with_traces(directory);
  log::note("waiting for a recording to start in {}; Ctrl-C ends it{}", directory,
            below.empty() ? "" : fmt::format(" (there are traces in {})", below.front()));
  while (session.is_empty() && session.complaint().empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    session.poll(std::chrono::milliseconds(100));
  }
}

int follow(const live_options& chosen) {
  auto wanted = live::understand(chosen.what);
  if (!wanted) {
    log::error("{}", wanted.failure().message);
    return failure;
  }
  auto expected = read_suppressions(chosen.suppressions);
  if (!expected) return usage;
  wanted->suppressions = std::move(*expected);
  live::session session(*wanted);
  const auto interval = std::chrono::milliseconds(static_cast<int>(chosen.interval * 1000));
  session.poll(std::chrono::milliseconds(100));
  const bool may_start = wanted->kind == live::meant::directory && !chosen.once;
  if (may_start && session.is_empty() && session.complaint().empty()) {
    wait_for_start(session, wanted->name);
  }
  if (chosen.serve) return serve(*wanted, chosen);
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
  if (!chosen.json.empty()) written = write_json(chosen.json, live::facts_json(known));
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
  add_json_option(app, chosen->json, "its figures")->needs(once);
  app.add_option("--interval", chosen->interval, "Seconds from one look to the next")
      ->type_name("SECONDS")
      ->check(CLI::Range(shortest, longest))
      ->capture_default_str();
  auto* const html =
      app.add_flag("--html", chosen->html, "The page of memtrace report --html, kept fresh");
  auto* const serve = app.add_flag("--serve", chosen->serve,
                                   "Serve the page on 127.0.0.1, at an address that it prints")
                          ->excludes(once);
  html->needs(serve);
  app.add_option("--port", chosen->port, "Of the address (default: one that is free)")
      ->type_name("N")
      ->needs(serve);
  add_suppressions(app, chosen->suppressions);
  return [chosen](const program&) { return follow(*chosen); };
}

}  // namespace memtrace::cli
