// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/help/completion.h"

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "analyzer/cli/commands/command.h"

namespace memtrace::cli {

namespace {

int print_text(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return std::fflush(stdout) == 0 && written ? success : failure;
}

}  // namespace

action add_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "Which one")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, &app](const program&) {
    const auto& root = *app.get_parent();
    return print_text(*shell == "bash"  ? help::for_bash(root)
                      : *shell == "zsh" ? help::for_zsh(root)
                                        : help::for_fish(root));
  };
}

action add_man(CLI::App& app) {
  return [&app](const program&) {
    return print_text(help::man_page(*app.get_parent(), MEMTRACE_VERSION));
  };
}

}  // namespace memtrace::cli
