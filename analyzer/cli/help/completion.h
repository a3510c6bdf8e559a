// SPDX-License-Identifier: Apache-2.0
//
// What makes a shell complete the command: its subcommands, options and their values; and the page
// of the manual. All from CLI11's own tree.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace memtrace::cli::help {

// What may stand where an option's value, or a positional, stands.
struct completed {
  std::vector<std::string> words;  // one of these
  bool is_list = false;            // several of them, with commas
  bool files = false;
  bool folders = false;
};
[[nodiscard]] completed completed_of(const CLI::Option& option);

// Of the first positional; nothing where there is none.
[[nodiscard]] completed first_positional_of(const CLI::App& app);

// Whether a program stands after "--".
[[nodiscard]] bool runs_a_program(const CLI::App& app);

// "-o", "--output"
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);
// Those of a subcommand and of the command itself, which are taken after it, too.
[[nodiscard]] std::vector<const CLI::Option*> all_options_of(const CLI::App& sub);

// For a shell, what it shall read.
[[nodiscard]] std::string for_bash(const CLI::App& root);
[[nodiscard]] std::string for_zsh(const CLI::App& root);
[[nodiscard]] std::string for_fish(const CLI::App& root);

// memtrace.1: what --help says of all subcommands.
[[nodiscard]] std::string man_page(const CLI::App& root, const std::string& version);

}  // namespace memtrace::cli::help
