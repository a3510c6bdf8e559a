// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

#include "analyzer/show/diff/configuration.h"

namespace memtrace::diff {

namespace {

struct argument {
  std::string name;
  std::string value;
};

[[nodiscard]] bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("+-.0123456789eE") == std::string_view::npos &&
         std::ranges::any_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

[[nodiscard]] bool is_option(std::string_view text) {
  return text.size() > 1 && text.front() == '-' && !is_number(text) && text != "--";
}

// --batch=8, or data.batch=8 as configuration libraries have it; not a path or an expression.
[[nodiscard]] std::optional<argument> assignment(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  const auto name = text.substr(0, equals);
  const bool plain = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-.+~@/").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (!plain) return std::nullopt;
  return argument{std::string(name), std::string(text.substr(equals + 1))};
}

// The program itself is the first; what has no name is called by its place.
[[nodiscard]] std::vector<argument> arguments_of(const std::vector<std::string>& command) {
  std::vector<argument> found;
  const auto add = [&](std::string name, std::string value) {
    const auto known = std::ranges::find(found, name, &argument::name);
    if (known == found.end()) {
      found.push_back({std::move(name), std::move(value)});
    } else {
      known->value += " " + value;  // an option that is given several times
    }
  };
  std::size_t place = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const auto& text = command[i];
    if (i == 0) {
      add("program", text);
    } else if (auto named = assignment(text)) {
      add(std::move(named->name), std::move(named->value));
    } else if (is_option(text)) {
      // python -u train.py: the script is no value of a flag.
      const bool has_value = i + 1 < command.size() && !is_option(command[i + 1]) &&
                             !assignment(command[i + 1]) && !command[i + 1].ends_with(".py");
      add(text, has_value ? command[i + 1] : "given");
      if (has_value) ++i;
    } else {
      ++place;
      add(place == 1 && text.ends_with(".py") ? "script" : fmt::format("argument {}", place), text);
    }
  }
  return found;
}

}  // namespace

std::vector<changed_fact> compare_commands(const std::vector<std::string>& before,
                                           const std::vector<std::string>& after) {
  const auto old_arguments = arguments_of(before);
  const auto new_arguments = arguments_of(after);
  std::vector<changed_fact> changed;
  for (const auto& [name, value] : old_arguments) {
    const auto now = std::ranges::find(new_arguments, name, &argument::name);
    if (now == new_arguments.end()) {
      changed.push_back({"command", name, value, {}});
    } else if (now->value != value) {
      changed.push_back({"command", name, value, now->value});
    }
  }
  for (const auto& [name, value] : new_arguments) {
    if (std::ranges::find(old_arguments, name, &argument::name) != old_arguments.end()) continue;
    changed.push_back({"command", name, {}, value});
  }
  return changed;
}

}  // namespace memtrace::diff
