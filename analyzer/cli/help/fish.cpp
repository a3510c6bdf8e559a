// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "analyzer/cli/help/completion.h"
#include "analyzer/cli/help/page.h"

namespace memtrace::cli::help {

namespace {

[[nodiscard]] std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + "'";
}

[[nodiscard]] std::string fish_values(const completed& of) {
  if (of.files) return " -F";
  if (of.folders) return " -a '(__fish_complete_directories)'";
  const auto words = CLI::detail::join(of.words, " ");
  if (of.is_list) return fmt::format(" -a '(__fish_append , {})'", words);
  return words.empty() ? words : fmt::format(" -a '{}'", words);
}

// `where`: the condition, with its option, or nothing.
[[nodiscard]] std::string fish_option(const std::string& where, const CLI::Option& option) {
  auto out = "complete -c memtrace" + where;
  for (const auto& name : option.get_snames()) out += " -s " + name;
  for (const auto& name : option.get_lnames()) out += " -l " + name;
  if (!is_flag(option)) {
    const auto values = completed_of(option);
    out += (values.files ? " -r" : " -x") + fish_values(values);
  }
  return out + " -d " + fish_quoted(said_of(option)) + "\n";
}

}  // namespace

std::string for_fish(const CLI::App& root) {
  std::string out =
      "# How fish completes memtrace: memtrace completion fish | source\n\n"
      "complete -c memtrace -f\n";
  for (const auto* option : options_of(root)) out += fish_option("", *option);
  for (const auto* sub : subcommands_of(root)) {
    out += fmt::format("\ncomplete -c memtrace -n __fish_use_subcommand -a {} -d {}\n",
                       sub->get_name(), fish_quoted(sub->get_description()));
    const auto where = fmt::format(" -n '__fish_seen_subcommand_from {}'", sub->get_name());
    for (const auto* option : options_of(*sub)) out += fish_option(where, *option);
    const auto rest =
        runs_a_program(*sub) ? std::string(" -F") : fish_values(first_positional_of(*sub));
    if (!rest.empty()) out += "complete -c memtrace" + where + rest + "\n";
  }
  return out;
}

}  // namespace memtrace::cli::help
