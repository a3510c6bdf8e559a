// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/surroundings.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "memtrace/capabilities.h"
#include "simulator/program/python_environment.h"

namespace memtrace::cli::surroundings {

namespace {

[[nodiscard]] std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[nodiscard]] std::string mode_word(const std::string& chosen) {
  const std::string word = chosen.empty() ? variable("MEMTRACE") : chosen;
  return word.empty() ? "standard" : word;
}

[[nodiscard]] recording_mode mode_of(const std::string& chosen) {
  return recording_mode_named(mode_word(chosen)).value_or(recording_mode::standard);
}

[[nodiscard]] const char* words_of(recording_mode mode) {
  switch (mode) {
    case recording_mode::minimal:
      return "allocations, CUDA calls and Python stacks";
    case recording_mode::full:
      return "allocations, CUDA calls, Python stacks, names, autograd, steps, samples, censuses at "
             "steps, CUPTI";
    default:
      return "allocations, CUDA calls, Python stacks, names, autograd, steps, samples, censuses";
  }
}

// Rows that their own variable turned off, by what a report then lacks.
[[nodiscard]] std::string turned_off(recording_mode mode) {
  std::string off;
  for (const auto& row : capability_rows) {
    if (!is_on_by_default(row, mode) || variable(row.variable) != "0") continue;
    off += fmt::format("{}{} ({}=0)", off.empty() ? "" : ", ", row.lacks, row.variable);
  }
  return off;
}

[[nodiscard]] finding describe_mode(const std::string& chosen) {
  if (const auto off = variable("MEMTRACE_DISABLE"); !off.empty() && off != "0") {
    return {"Mode", effect::nothing, "MEMTRACE_DISABLE is set; unset it to record"};
  }
  const auto word = mode_word(chosen);
  if (!recording_mode_named(word)) {
    return {
        "Mode", effect::none,
        fmt::format("MEMTRACE={} is none of minimal, standard and full; standard is taken", word)};
  }
  const auto off = turned_off(mode_of(chosen));
  if (!off.empty()) return {"Mode", effect::lacks, fmt::format("{}, without {}", word, off)};
  return {"Mode", effect::none, fmt::format("{}: {}", word, words_of(mode_of(chosen)))};
}

[[nodiscard]] finding describe_preloaded() {
  const auto others = variable("LD_PRELOAD");
  return {
      "LD_PRELOAD", effect::none,
      others.empty() ? "nothing else" : fmt::format("{}, which stays, behind memtrace", others)};
}

[[nodiscard]] std::string why_no_python(const std::vector<std::string>& command,
                                        const std::filesystem::path& interpreter) {
  if (!interpreter.empty()) return fmt::format("{} does not answer", interpreter.string());
  return command.empty() ? "none on the PATH" : "the command does not say which";
}

}  // namespace

std::string what_is_on(const std::string& mode) {
  return words_of(mode_of(mode));
}

findings look(const place& at) {
  findings found;
  found.push_back(describe_system());
  found.push_back(describe_container());
  const auto interpreter = at.command.empty() ? simulator::find_interpreter({})
                                              : simulator::named_interpreter(at.command);
  const auto python = interpreter.empty() ? std::nullopt : ask_python(interpreter);
  const auto program =
      at.command.empty() && python ? std::vector{interpreter.string()} : at.command;
  if (!program.empty()) found.push_back(judge_program(program, at.library));
  if (python) {
    found.push_back(judge_python(*python));
    found.push_back(judge_torch(*python));
  } else {
    found.push_back({"Python", effect::none, why_no_python(at.command, interpreter)});
  }
  found.push_back(judge_driver(python ? python->torch_cuda : ""));
  found.push_back(judge_folder(at.folder));
  found.push_back(judge_shared_memory());
  found.push_back(describe_mode(at.mode));
  found.push_back(describe_preloaded());
  return found;
}

}  // namespace memtrace::cli::surroundings
