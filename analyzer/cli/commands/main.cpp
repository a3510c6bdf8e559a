// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/nearest.h"
#include "analyzer/base/text/page.h"
#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/help/page.h"
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
constexpr char hidden[] = "";

// What --help says at its end, where that is the same of several.
constexpr char program_status[] =
    "the program's own, or:\n"
    "1 memtrace could not record, and did not start it\n"
    "2 wrong usage\n"
    "126 the program cannot be executed\n"
    "127 there is no such program\n"
    "A program that a signal ends: memtrace ends by the same signal";
constexpr char reading_status[] =
    "0 all was read and written\n"
    "1 a trace is missing or damaged, or a file cannot be written\n"
    "2 wrong usage, or a pickle that is no snapshot of PyTorch's";
constexpr char writing_status[] =
    "0 all was written\n"
    "1 it could not be, or a trace is missing or damaged\n"
    "2 wrong usage";

struct subcommand {
  const char* group;
  const char* name;
  const char* help;
  action (*add)(CLI::App&);
  bool runs_a_program;   // which stands after "--"
  const char* follows;   // in the line of usage; empty: what CLI11 knows
  const char* examples;  // one a line; they work
  const char* status;    // the exit codes, one a line
};

constexpr std::array subcommands = {
    subcommand{records, "run", "Run a program, record it, and report", add_run, true,
               "[OPTIONS] -- COMMAND…",
               "memtrace run -- python train.py\n"
               "memtrace run -o traces -- torchrun --nproc-per-node 2 train.py",
               program_status},
    subcommand{records, "dry-run", "The same on a simulated GPU", add_dry_run, true,
               "[OPTIONS] -- COMMAND…",
               "memtrace dry-run --gpu rtx3090 -- python train.py\n"
               "memtrace dry-run --gpu a100-80 --fast-init -o traces -- python train.py",
               program_status},
    subcommand{records, "doctor",
               "Say what a recording here would hold, and what it would lack and why", add_doctor,
               true, "[OPTIONS] [-- COMMAND…]",
               "memtrace doctor\n"
               "memtrace doctor -- python train.py",
               "0 it would be recorded, though it may lack something\n"
               "1 nothing would be recorded\n"
               "2 wrong usage"},
    subcommand{records, "path", "Print where libmemtrace.so is, for LD_PRELOAD", add_path, false,
               "", "LD_PRELOAD=$(memtrace path) python train.py",
               "0 it is printed\n"
               "1 it is not there\n"
               "2 wrong usage"},
    subcommand{reads, "report", "Say what holds the memory in a trace", add_report, false, "",
               "memtrace report traces\n"
               "memtrace report traces --html report.html\n"
               "memtrace report traces --by site --at step:3/backward",
               reading_status},
    subcommand{reads, "live", "Watch a recording that grows, in the terminal", add_live, false, "",
               "memtrace live traces\n"
               "memtrace live traces --once --json live.json\n"
               "memtrace live traces --serve --html",
               "0 it was left, or all programs have ended\n"
               "1 there is nothing to watch, or it cannot be read\n"
               "2 wrong usage"},
    subcommand{reads, "diff", "Two runs side by side: what changed", add_diff, false,
               "[OPTIONS] BEFORE AFTER",
               "memtrace diff before after\n"
               "memtrace diff --before a.mtrace b.mtrace --after c.mtrace d.mtrace",
               reading_status},
    subcommand{reads, "check", "Whether a run keeps to its limits, for CI", add_check, false, "",
               "memtrace check traces --max-peak 20GiB --no-leaks\n"
               "memtrace check traces --against before --tolerance 2% --github",
               "0 all limits hold\n"
               "1 a limit is broken\n"
               "2 cannot tell: a trace cannot be read, or wrong usage"},
    subcommand{reads, "replay", "What other allocator options, or another GPU, would do",
               add_replay, false, "[OPTIONS] TRACE…",
               "memtrace replay traces --gpu t4\n"
               "memtrace replay traces --alloc-conf expandable_segments:True",
               "0 it was replayed, whether or not it fits\n"
               "1 a trace is missing or damaged, or cannot be replayed\n"
               "2 wrong usage, or a pickle that is no snapshot of PyTorch's"},
    subcommand{plans, "fit", "The largest batch that fits each GPU, by dry runs", add_fit, true,
               "--gpu GPU[,…] --batch PLACE [OPTIONS] -- COMMAND…",
               "memtrace fit --gpu rtx3090 --batch '--batch-size {}' -- python train.py\n"
               "memtrace fit --gpu t4,l4 --batch env:BATCH={} --html -- python train.py",
               "0 each question has its answer, by a dry run that fits\n"
               "1 one has none, a dry run failed, or a file cannot be written\n"
               "2 wrong usage"},
    subcommand{plans, "plan", "Which settings start a server on which GPU, by dry runs", add_plan,
               true, "--gpu GPU[,…] [--vary AXIS]… [OPTIONS] -- COMMAND…",
               "memtrace plan --gpu l40s,h100-80 -- vllm serve Qwen/Qwen3-8B\n"
               "memtrace plan --gpu l4 --vary 'kv=|--kv-cache-dtype fp8' -- vllm serve ./model",
               "0 each start was tried, whether or not it comes up\n"
               "1 one could not be tried, or a file cannot be written\n"
               "2 wrong usage"},
    subcommand{plans, "estimate",
               "Work out what a training would need, by formulas with their sources", add_estimate,
               false, "",
               "memtrace estimate --model llama-2-7b --batch 4 --sequence 2048\n"
               "memtrace estimate --parameters 770M --precision bf16 --gpu a100-40",
               "0 it is worked out, whether or not it fits\n"
               "1 the file cannot be written\n"
               "2 wrong usage"},
    subcommand{shares, "scrub", "Copy traces without paths and names, to share them", add_scrub,
               false, "", "memtrace scrub traces -o scrubbed", writing_status},
    subcommand{shares, "export", "A trace for other tools: Perfetto, pprof, speedscope and more",
               add_export, false, "",
               "memtrace export traces --format perfetto\n"
               "memtrace export traces --format sqlite -o run.sqlite",
               writing_status},
    subcommand{shares, "fleet", "Many runs: add their summaries to a store, and ask all of them",
               add_fleet, false, "COMMAND …",
               "memtrace fleet add store traces\n"
               "memtrace fleet report store",
               "0 done\n"
               "1 it could not be done\n"
               "2 wrong usage"},
    subcommand{inside, "audit", "Whether CUPTI saw the same allocations (MEMTRACE_CUPTI=1)",
               add_audit, false, "", "memtrace audit traces",
               "0 both saw the same\n"
               "1 a trace is missing or damaged, or a file cannot be written\n"
               "2 wrong usage\n"
               "3 they differ\n"
               "4 no second witness, or nothing that both can see"},
    subcommand{inside, "dump", "Print every record of a trace as JSON, one a line", add_dump, false,
               "", "memtrace dump train.py.4711.mtrace --no-stacks",
               "0 all records are printed\n"
               "1 the trace is missing or damaged\n"
               "2 wrong usage"},
    subcommand{hidden, "completion", "Print what completes the command in a shell", add_completion,
               false, "bash|zsh|fish", "source <(memtrace completion bash)",
               "0 it is printed\n"
               "2 wrong usage"},
    subcommand{hidden, "man", "Print the page of the manual, for man -l -", add_man, false, "",
               "memtrace man | man -l -",
               "0 it is printed\n"
               "2 wrong usage"},
};

// Under what the subcommand itself has there.
void add_footer(CLI::App& sub, const subcommand& entry) {
  std::string footer = sub.get_footer();
  if (!footer.empty()) footer += "\n";
  const auto add = [&](const char* title, const std::string& lines) {
    footer += fmt::format("{}:\n  {}\n", title, CLI::detail::find_and_replace(lines, "\n", "\n  "));
  };
  add("Examples", entry.examples);
  footer += "\n";
  add("Exit status", entry.status);
  sub.footer(footer);
}

// Takes what follows the first "--" off the arguments, untouched.
[[nodiscard]] program split_program(std::vector<std::string>& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  if (dashes == arguments.end()) return {};
  program command(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
  return command;
}

// Where the subcommand stands: -v and --log-level may be before it.
[[nodiscard]] std::size_t place_of_subcommand(const std::vector<std::string>& arguments) {
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with('-') && arguments[at] != "--") {
    at += arguments[at] == "--log-level" ? 2 : 1;
  }
  return at;
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

// "memtrace dry-run has it", of the subcommands that take this option; empty: none does.
[[nodiscard]] std::string subcommands_with(const std::string& option, const CLI::App& all) {
  std::vector<std::string> names;
  for (const auto* one : all.get_subcommands(nullptr)) {
    if (one->get_option_no_throw(option) != nullptr) names.push_back("memtrace " + one->get_name());
  }
  if (names.empty()) return {};
  return fmt::format("{} {} it", memtrace::text::join(names, ", "),
                     names.size() == 1 ? "has" : "have");
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
  const auto others = nearest.empty() ? subcommands_with(unknown, *of.get_parent()) : std::string();
  const auto end = !nearest.empty() ? fmt::format("did you mean {}?", nearest)
                   : !others.empty()
                       ? others
                       : fmt::format("memtrace {} --help lists what it has", of.get_name());
  return fmt::format("memtrace {} has no {}; {}", of.get_name(), unknown, end);
}

// CLI11 tells them the wrong way round.
[[nodiscard]] std::string about_extras(const CLI::App& app) {
  const auto extras = app.remaining(true);
  return fmt::format("{} {} not expected", CLI::detail::join(extras, " "),
                     extras.size() == 1 ? "is" : "are");
}

int run(std::vector<std::string> arguments) {
  CLI::App app("Finds out where GPU memory goes in PyTorch training.", "memtrace");
  app.set_version_flag("--version", MEMTRACE_VERSION, "Print the version and exit");
  app.formatter(std::make_shared<help::page>("[OPTIONS] SUBCOMMAND …"));
  std::string level;
  std::size_t more = 0;
  app.add_option("--log-level", level, "What to say on standard error, warn if not set")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"off", "error", "warn", "info", "debug", "trace"}));
  app.add_flag("-v,--verbose", more, "Say more on standard error; twice: everything")
      ->excludes("--log-level");
  app.require_subcommand(1);
  app.fallthrough();  // both are taken after the subcommand, too
  std::array<action, subcommands.size()> actions;
  program command;
  bool runs_a_program = false;
  const auto place = place_of_subcommand(arguments);
  const auto written = place < arguments.size() ? arguments[place] : std::string();
  for (std::size_t i = 0; i < subcommands.size(); ++i) {
    const auto& entry = subcommands[i];
    auto& sub = *app.add_subcommand(entry.name, entry.help)->group(entry.group);
    actions[i] = entry.add(sub);
    sub.formatter(std::make_shared<help::page>(entry.follows));
    add_footer(sub, entry);
    if (written != entry.name) continue;
    if (entry.add == add_fleet) {
      command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(place) + 1, arguments.end());
      arguments.resize(place + 1);
    }
    if (entry.runs_a_program) command = split_program(arguments);
    runs_a_program = entry.runs_a_program;
    name_page(sub, arguments);
  }
  // After its subcommands, which would inherit it.
  app.footer("memtrace SUBCOMMAND --help says what it takes, with examples.\n");
  if (arguments.empty()) {  // the help says more than that a subcommand is missing
    std::fputs(app.help().c_str(), stderr);
    return usage;
  }
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
      log::error("{}; {}", is_extra ? about_extras(app) : error.what(),
                 dashes_missing ? "put the program and its arguments after --"
                                : "memtrace --help says more");
    }
    return usage;
  }
  if (more != 0) level = more == 1 ? "info" : "debug";
  log::start(level);
  for (std::size_t i = 0; i < subcommands.size(); ++i) {
    if (!app.got_subcommand(subcommands[i].name)) continue;
    begin_reading_for(subcommands[i].name);
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
