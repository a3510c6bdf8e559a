// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/launch/recording.h"
#include "analyzer/cli/launch/surroundings.h"

namespace memtrace::cli {

namespace {

using surroundings::effect;

// The folder, or what of its path is there already: run makes the rest.
[[nodiscard]] std::string existing_part(const std::string& folder) {
  std::filesystem::path part = folder;
  std::error_code failed;
  while (!std::filesystem::exists(part, failed) && part.has_relative_path())
    part = part.parent_path();
  return part.string();
}

[[nodiscard]] const char* mark_of(effect on_recording) {
  switch (on_recording) {
    case effect::none:
      return " ";
    case effect::lacks:
      return "!";
    case effect::nothing:
      return "x";
  }
  return " ";
}

int doctor(const program& command, const recording_options& options) {
  const auto library = find_library();
  if (!library) return failure;
  const auto found = surroundings::look(
      {command, *library, existing_part(output_folder(options.output)), options.mode});
  fmt::print("memtrace {}\n\n", MEMTRACE_VERSION);
  for (const auto& one : found) {
    fmt::print("{} {:<11} {}\n", mark_of(one.on_recording), one.topic, one.said);
  }
  const auto worst = std::ranges::max(found, {}, &surroundings::finding::on_recording).on_recording;
  if (worst == effect::nothing) {
    fmt::print("\nmemtrace run would record nothing here, because of what is marked x.\n");
    return failure;
  }
  fmt::print("\nmemtrace run records {}{}.\n", surroundings::what_is_on(options.mode),
             worst == effect::lacks ? ", but for what is marked !" : "");
  return success;
}

}  // namespace

action add_doctor(CLI::App& app) {
  const auto chosen = std::make_shared<recording_options>();
  add_recording_options(app, *chosen);
  return [chosen](const program& command) { return doctor(command, *chosen); };
}

}  // namespace memtrace::cli
