// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/nearest.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"

namespace {

using namespace memtrace::cli;

// As the help lists them.
constexpr char records[] = "Record";
constexpr char reads[] = "Read";
constexpr char plans[] = "Plan";
constexpr char shares[] = "Share";
constexpr char inside[] = "Look inside";

struct subcommand {
  const char* group;
  const char* name;
  const char* help;
  action (*add)(CLI::App&);
  bool runs_a_program;  // which stands after "--"
};

constexpr std::array subcommands = {
    subcommand{records, "run", "Run a program, record it, and report", add_run, true},
    subcommand{records, "dry-run", "The same on a simulated GPU", add_dry_run, true},
    subcommand{records, "doctor",
               "Say what a recording here would hold, and what it would lack and why", add_doctor,
               true},
    subcommand{records, "path", "Print where libmemtrace.so is, for LD_PRELOAD", add_path, false},
    subcommand{reads, "report", "Say what holds the memory in a trace", add_report, false},
    subcommand{reads, "live", "Watch a recording that grows, in the terminal", add_live, false},
    subcommand{reads, "diff", "Two runs side by side: what changed", add_diff, false},
    subcommand{reads, "check", "Whether a run keeps to its limits, for CI", add_check, false},
    subcommand{reads, "replay", "What other allocator options, or another GPU, would do",
               add_replay, false},
    subcommand{plans, "fit", "The largest batch that fits each GPU, by dry runs", add_fit, true},
    subcommand{plans, "estimate",
               "Work out what a training would need, by formulas with their sources", add_estimate,
               false},
    subcommand{shares, "scrub", "Copy traces without paths and names, to share them", add_scrub,
               false},
    subcommand{shares, "export", "A trace for other tools: Perfetto, pprof, speedscope and more",
               add_export, false},
    subcommand{shares, "fleet", "Many runs: add their summaries to a store, and ask all of them",
               add_fleet, false},
    subcommand{inside, "audit", "Whether CUPTI saw the same allocations (MEMTRACE_CUPTI=1)",
               add_audit, false},
    subcommand{inside, "dump", "Print every record of a trace as JSON, one a line", add_dump,
               false},
};

// Takes what follows the first "--" off the arguments, untouched.
[[nodiscard]] program split_program(std::vector<std::string>& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  if (dashes == arguments.end()) return {};
  program command(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
  return command;
}

// The subcommand that was misspelt; empty: it is one, or none is near.
[[nodiscard]] std::string_view meant_by(std::string_view written) {
  const auto is_named = [&](const subcommand& one) { return written == one.name; };
  if (written.starts_with('-') || std::ranges::any_of(subcommands, is_named)) return {};
  const auto& nearest = *std::ranges::min_element(subcommands, {}, [&](const subcommand& one) {
    return memtrace::text::edit_distance(written, one.name);
  });
  return memtrace::text::may_mean(written, nearest.name) ? nearest.name : std::string_view();
}

// The first option that the subcommand does not have, as it was written; empty: all are known.
[[nodiscard]] std::string unknown_option(const CLI::App& app) {
  for (const auto& written : app.remaining(true)) {
    if (written.size() > 1 && written.starts_with('-')) return written.substr(0, written.find('='));
  }
  return {};
}

// "memtrace run has no --memroy; did you mean --memory?"
[[nodiscard]] std::string about_option(const std::string& unknown, const CLI::App& of) {
  using memtrace::text::edit_distance;
  if (of.get_option_no_throw(unknown) != nullptr) {
    return fmt::format("{0} stands before {1}; put it after: memtrace {1} {0} …", unknown,
                       of.get_name());
  }
  const auto bare = [](std::string_view name) { return name.substr(name.find_first_not_of('-')); };
  std::string nearest;
  for (const auto* option : of.get_options()) {
    for (const auto& name : option->get_lnames()) {
      const auto known = "--" + name;
      const bool is_begun = unknown.size() > 2 && known.starts_with(unknown);
      const bool is_misspelt = memtrace::text::may_mean(unknown, known) &&
                               bare(unknown).substr(0, 1) == name.substr(0, 1);
      if (!is_begun && !is_misspelt) continue;
      if (nearest.empty() || edit_distance(unknown, known) < edit_distance(unknown, nearest)) {
        nearest = known;
      }
    }
  }
  const auto end = nearest.empty()
                       ? fmt::format("memtrace {} --help lists what it has", of.get_name())
                       : fmt::format("did you mean {}?", nearest);
  return fmt::format("memtrace {} has no {}; {}", of.get_name(), unknown, end);
}

int run(std::vector<std::string> arguments) {
  CLI::App app("Finds out where GPU memory goes in PyTorch training.", "memtrace");
  app.set_version_flag("--version", MEMTRACE_VERSION);
  std::string level;
  std::size_t more = 0;
  app.add_option("--log-level", level,
                 "What to say on standard error: off, error, warn (default), info, debug or trace")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"off", "error", "warn", "info", "debug", "trace"}));
  app.add_flag("-v,--verbose", more, "Say more on standard error; twice: everything")
      ->excludes("--log-level");
  app.require_subcommand(1);
  app.fallthrough();  // both are taken after the subcommand, too
  std::array<action, subcommands.size()> actions;
  program command;
  bool runs_a_program = false;
  for (std::size_t i = 0; i < subcommands.size(); ++i) {
    const auto& entry = subcommands[i];
    auto& sub = *app.add_subcommand(entry.name, entry.help)->group(entry.group);
    actions[i] = entry.add(sub);
    if (entry.add == add_fleet && !arguments.empty() && arguments[0] == entry.name) {
      command.assign(arguments.begin() + 1, arguments.end());
      arguments.resize(1);
    }
    if (!entry.runs_a_program) continue;
    sub.footer(std::string("memtrace ") + entry.name + " [OPTIONS] -- python train.py");
    if (arguments.empty() || arguments[0] != entry.name) continue;
    command = split_program(arguments);
    runs_a_program = true;
  }
  if (arguments.empty()) {  // the help says more than that a subcommand is missing
    std::fputs(app.help().c_str(), stderr);
    return usage;
  }
  const auto written = arguments.front();
  try {
    std::ranges::reverse(arguments);  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    const bool dashes_missing = runs_a_program && command.empty() && is_extra;
    const auto meant = meant_by(written);
    const auto unknown = is_extra && !dashes_missing ? unknown_option(app) : std::string();
    const auto asked = app.get_subcommands();
    if (!meant.empty()) {
      log::error("there is no memtrace {}; did you mean {}?", written, meant);
    } else if (!unknown.empty() && !asked.empty()) {
      log::error("{}", about_option(unknown, *asked.front()));
    } else {
      log::error("{}; {}", error.what(),
                 dashes_missing ? "put the program and its arguments after --"
                                : "memtrace --help says more");
    }
    return usage;
  }
  if (more != 0) level = more == 1 ? "info" : "debug";
  log::start(level);
  for (std::size_t i = 0; i < subcommands.size(); ++i) {
    if (!app.got_subcommand(subcommands[i].name)) continue;
    const int status = actions[i](command);
    return status == failure && refused_a_snapshot() ? usage : status;
  }
  return usage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    log::error("{}", error.what());
    return failure;
  }
}
