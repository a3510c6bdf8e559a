// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/help/completion.h"

#include <algorithm>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/cli/help/page.h"

namespace memtrace::cli::help {

completed completed_of(const CLI::Option& option) {
  completed made;
  made.words = choices_of(option);
  if (!made.words.empty()) return made;
  const auto value = option.get_positional() ? option.get_name(true) : value_of(option);
  if (value.starts_with("GPU")) {
    for (const auto& known : known_gpus) made.words.emplace_back(known.key);
    made.words.emplace_back("list");
    made.is_list = option.get_delimiter() != '\0';
    return made;
  }
  made.folders = value == "DIR";
  const auto holds = [&](const char* part) { return value.find(part) != value.npos; };
  made.files = !made.folders && (holds("FILE") || holds("TRACE") || holds("RUNS"));
  return made;
}

completed first_positional_of(const CLI::App& app) {
  const auto all = positionals_of(app);
  return all.empty() ? completed() : completed_of(*all.front());
}

bool runs_a_program(const CLI::App& app) {
  return usage_of(app).find("-- COMMAND") != std::string::npos;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::Option*> all_options_of(const CLI::App& sub) {
  auto all = options_of(sub);
  if (sub.get_parent() == nullptr) return all;
  for (const auto* one : options_of(*sub.get_parent())) {
    const bool is_own = sub.get_option_no_throw(one->get_name()) != nullptr;
    if (!is_own && one->get_name() != "--version") all.push_back(one);
  }
  return all;
}

}  // namespace memtrace::cli::help
