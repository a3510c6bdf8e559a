// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "analyzer/cli/help/completion.h"
#include "analyzer/cli/help/page.h"

namespace memtrace::cli::help {

namespace {

constexpr char zsh_begin[] = R"(#compdef memtrace
# How zsh completes memtrace, after compinit: source <(memtrace completion zsh)

_memtrace() {
  local curcontext="$curcontext" state line ret=1
  typeset -A opt_args
  local -a subcommands
)";

constexpr char zsh_end[] = R"(      esac
      ;;
  esac
  return ret
}

if [[ "$funcstack[1]" == _memtrace ]]; then
  _memtrace "$@"
else
  compdef _memtrace memtrace
fi
)";

// Inside single quotes; what _arguments takes for its own has a backslash.
[[nodiscard]] std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

[[nodiscard]] std::string zsh_action(const completed& of) {
  if (of.files) return "_files";
  if (of.folders) return "_files -/";
  if (of.words.empty()) return " ";
  const auto words = CLI::detail::join(of.words, " ");
  return of.is_list ? fmt::format("_values -s , name {}", words) : fmt::format("({})", words);
}

// '*'{-o,--output}'[Directory for the traces]:DIR:_files -/'
[[nodiscard]] std::string zsh_option(const CLI::Option& option) {
  const auto names = names_of(option);
  const auto name =
      names.size() == 1 ? "'*" + names.front() : "'*'{" + CLI::detail::join(names, ",") + "}'";
  auto out = fmt::format("{}[{}]", name, zsh_text(said_of(option)));
  if (!is_flag(option)) {
    out += fmt::format(":{}:{}", zsh_text(value_of(option)), zsh_action(completed_of(option)));
  }
  return out + "'";
}

[[nodiscard]] std::string zsh_rest(const CLI::App& sub) {
  if (runs_a_program(sub)) return "'(-)1:program:_command_names -e' '*::argument:_normal'";
  const auto all = positionals_of(sub);
  if (all.empty()) return {};
  return fmt::format("'*:{}:{}'", zsh_text(all.front()->get_name(true)),
                     zsh_action(completed_of(*all.front())));
}

}  // namespace

std::string for_zsh(const CLI::App& root) {
  std::string out = zsh_begin;
  out += "  subcommands=(\n";
  const auto subcommands = subcommands_of(root);
  for (const auto* sub : subcommands) {
    out += fmt::format("    '{}:{}'\n", sub->get_name(), zsh_text(sub->get_description()));
  }
  out += "  )\n  _arguments -C \\\n";
  for (const auto* option : options_of(root)) out += "    " + zsh_option(*option) + " \\\n";
  out +=
      "    '1:subcommand:->subcommand' '*::argument:->argument' && ret=0\n"
      "  case $state in\n"
      "    subcommand) _describe -t commands 'memtrace subcommand' subcommands && ret=0 ;;\n"
      "    argument)\n      curcontext=\"${curcontext%:*:*}:memtrace-$words[1]:\"\n"
      "      case $words[1] in\n";
  for (const auto* sub : subcommands) {
    out += fmt::format("        {})\n          _arguments -S \\\n", sub->get_name());
    for (const auto* option : all_options_of(*sub)) {
      out += "            " + zsh_option(*option) + " \\\n";
    }
    out += fmt::format("            {} && ret=0\n          ;;\n", zsh_rest(*sub));
  }
  return out + zsh_end;
}

}  // namespace memtrace::cli::help
