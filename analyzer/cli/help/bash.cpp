// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "analyzer/cli/help/completion.h"
#include "analyzer/cli/help/page.h"

namespace memtrace::cli::help {

namespace {

constexpr char bash_begin[] = R"(# How bash completes memtrace: source <(memtrace completion bash)

_memtrace_words() {  # the words that begin so
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_memtrace_list() {  # the same behind the last comma
  mapfile -t COMPREPLY < <(compgen -P "${2%"${2##*,}"}" -W "$1" -- "${2##*,}")
}

_memtrace_files() {
  compopt -o "$1" 2>/dev/null
  return 0
}

_memtrace() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD - 1]}" sub="" at
  COMPREPLY=()
  # bash takes --gpu=t4 apart
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev="${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((at = 1; at < COMP_CWORD; ++at)); do
    case "${COMP_WORDS[at]}" in
      --)
        if ((at + 1 == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi
        _memtrace_files default
        return
        ;;
      --log-level) ((++at)) ;;
      -*) ;;
      *) [[ -n $sub ]] || sub="${COMP_WORDS[at]}" ;;
    esac
  done
)";

constexpr char bash_end[] = R"(}

complete -F _memtrace memtrace
)";

[[nodiscard]] std::string bash_action(const completed& of) {
  if (of.files) return "_memtrace_files default";
  if (of.folders) return "_memtrace_files dirnames";
  if (of.words.empty()) return ":";
  return fmt::format(R"({} "{}" "$cur")", of.is_list ? "_memtrace_list" : "_memtrace_words",
                     CLI::detail::join(of.words, " "));
}

// "run:-o | run:--output) …; return ;;"
[[nodiscard]] std::string bash_case(const std::string& sub, const CLI::Option& option) {
  std::string pattern;
  for (const auto& name : names_of(option)) {
    pattern += (pattern.empty() ? "" : " | ") + sub + ":" + name;
  }
  return fmt::format("    {})\n      {}\n      return\n      ;;\n", pattern,
                     bash_action(completed_of(option)));
}

[[nodiscard]] std::string words_of(const CLI::App& app) {
  std::string words;
  for (const auto* option : all_options_of(app)) {
    for (const auto& name : names_of(*option)) words += name + " ";
  }
  if (runs_a_program(app)) words += "-- ";
  if (!words.empty()) words.pop_back();
  return words;
}

}  // namespace

std::string for_bash(const CLI::App& root) {
  std::string out = bash_begin;
  out += "  case \"$sub:$prev\" in\n";
  for (const auto* option : options_of(root)) {
    if (!is_flag(*option)) out += bash_case("*", *option);
  }
  const auto subcommands = subcommands_of(root);
  for (const auto* sub : subcommands) {
    for (const auto* option : options_of(*sub)) {
      if (!is_flag(*option)) out += bash_case(sub->get_name(), *option);
    }
  }
  out += "  esac\n  case \"$sub\" in\n";
  std::string names;
  for (const auto* sub : subcommands) {
    names += (names.empty() ? "" : " ") + sub->get_name();
    const auto else_action = runs_a_program(*sub) ? R"(_memtrace_words "--" "$cur")"
                                                  : bash_action(first_positional_of(*sub));
    out += fmt::format(
        "    {})\n      if [[ $cur == -* ]]; then\n        _memtrace_words \"{}\" \"$cur\"\n"
        "      else\n        {}\n      fi\n      ;;\n",
        sub->get_name(), words_of(*sub), else_action);
  }
  out += fmt::format("    \"\") _memtrace_words \"{} {}\" \"$cur\" ;;\n  esac\n", names,
                     words_of(root));
  return out + bash_end;
}

}  // namespace memtrace::cli::help
