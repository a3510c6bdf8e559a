// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/recording.h"

#include <fmt/core.h>

#include <unistd.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "analyzer/base/text/page.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/show_report.h"
#include "analyzer/cli/io/suppressions.h"
#include "analyzer/cli/launch/surroundings.h"
#include "analyzer/trace/reader/find_traces.h"
#include "memtrace/capabilities.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

[[nodiscard]] std::optional<std::string> prepare_output(const std::string& wanted) {
  const auto folder = output_folder(wanted);
  std::error_code failed;
  fs::create_directories(folder, failed);
  const auto why = failed ? failed.message() : surroundings::why_not_writable(folder);
  if (!why.empty()) {
    log::error("{}: no directory for traces: {}; choose another with --output", folder, why);
    return std::nullopt;
  }
  return folder;
}

// libmemtrace.so first: it has to see the calls before anything else that is preloaded.
[[nodiscard]] std::string preload_list(const std::vector<std::string>& libraries) {
  std::string list;
  for (const auto& library : libraries) list += (list.empty() ? "" : ":") + library;
  const char* const inherited = std::getenv("LD_PRELOAD");
  if (inherited != nullptr && *inherited != '\0') list += ":" + std::string(inherited);
  return list;
}

// Preloaded all the same, it would end the program before it begins.
[[nodiscard]] bool is_loadable(const std::string& library, const std::string& program_name) {
  const auto why = why_not_loadable(program_name, library);
  if (why.empty()) return true;
  log::error(
      "not recorded: {} cannot load {}, so the program runs without it. Its linker says: {}. Build "
      "memtrace on the system where the program runs.",
      program_name, library, why);
  return false;
}

void report_new_traces(const std::string& folder, const std::vector<std::string>& old) {
  auto traces = trace::traces_in(folder);
  const std::set<std::string> known(old.begin(), old.end());
  std::erase_if(traces, [&](const std::string& path) { return known.contains(path); });
  if (traces.empty()) {
    log::note(
        "no trace was written: the program did not get to use CUDA, or a message above "
        "says why");
    return;
  }
  const auto loaded = load_traces(traces, {.suppressions = suppressions_by_environment()});
  if (!loaded.processes.empty()) print_report(loaded.processes, stderr);
}

// The moment in nanoseconds: no other run has it.
[[nodiscard]] std::string run_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}.{}", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                     ::getpid());
}

// One line: what will be recorded and what not, or why nothing will be.
void announce(const surroundings::place& at) {
  if (!surroundings::can_be_started(at.command.front())) return;  // starting it says so
  std::string lacks;
  for (const auto& found : surroundings::look(at)) {
    if (found.on_recording == surroundings::effect::nothing) {
      log::warn("not recorded: {}: {}", found.topic, found.said);
      return;
    }
    if (found.on_recording == surroundings::effect::lacks) {
      lacks += fmt::format("; {}: {}", found.topic, found.said);
    }
  }
  log::note("records {} into {}{}", surroundings::what_is_on(at.mode), at.folder, lacks);
}

}  // namespace

std::string executable_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path().string();
}

std::optional<std::string> find_library() {
  const fs::path here = executable_folder();
  for (const auto& folder : {here, here / "../lib", here / "../lib/x86_64-linux-gnu"}) {
    std::error_code failed;
    const auto path = fs::canonical(folder / "libmemtrace.so", failed);
    if (!failed) return path.string();
  }
  log::error(
      "libmemtrace.so is not next to this command or in ../lib; build it with scripts/build");
  return std::nullopt;
}

// Absolute, since the program may change its working directory; without a slash at its end.
std::string output_folder(const std::string& wanted) {
  std::error_code failed;
  auto folder = fs::absolute(wanted.empty() ? "." : wanted, failed).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return failed ? wanted : folder.string();
}

void add_recording_options(CLI::App& app, recording_options& to) {
  app.add_option("-o,--output", to.output, "Directory for the traces (default: here)")
      ->type_name("DIR");
  app.add_option("--mode", to.mode,
                 "What to record; without it as the variable MEMTRACE says, else standard")
      ->type_name("MODE")
      ->check(CLI::IsMember(
          std::vector<std::string>(recording_mode_names.begin(), recording_mode_names.end())));
}

std::optional<recorded_start> prepare_recording(const program& command,
                                                const recording_options& options) {
  recorded_start made{options.environment, {}};
  std::vector<std::string> libraries;
  if (options.record) {
    const auto library = find_library();
    if (!library) return std::nullopt;
    if (is_loadable(*library, command.front())) {
      const auto output = prepare_output(options.output);
      if (!output) return std::nullopt;
      made.folder = *output;
      libraries.push_back(*library);
      made.environment.emplace_back("MEMTRACE_OUTPUT", made.folder);
      if (std::getenv("MEMTRACE_RUN") == nullptr) {
        made.environment.emplace_back("MEMTRACE_RUN", run_name());
      }
      if (!options.mode.empty()) made.environment.emplace_back("MEMTRACE", options.mode);
      if (options.announce) announce({command, *library, made.folder, options.mode});
    }
  }
  libraries.insert(libraries.end(), options.preload.begin(), options.preload.end());
  if (!libraries.empty()) made.environment.emplace_back("LD_PRELOAD", preload_list(libraries));
  for (const auto& [name, value] : made.environment) log::info("{}={}", name, value);
  return made;
}

std::optional<child_end> record_and_report(const program& command,
                                           const recording_options& options) {
  const auto start = prepare_recording(command, options);
  if (!start) return std::nullopt;
  const bool records = !start->folder.empty();
  const auto old_traces = records ? trace::traces_in(start->folder) : std::vector<std::string>();
  log::info("starting {}", text::join(command, " "));
  const auto end =
      run_programs(command, start->environment, options.ranks, options.fixed_addresses);
  if (end.started && records && options.report) report_new_traces(start->folder, old_traces);
  return end;
}

}  // namespace memtrace::cli
