// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/settings_of_environment.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/model/allocator/settings_tokens.h"
#include "memtrace/environment.h"
#include "memtrace/info_keys.h"

namespace memtrace::allocator {

namespace key = format::info_key;

void settings_of_environment::info(std::string_view key, std::string_view value) {
  if (key == key::torch) torch_ = value;
  if (key == key::alloc_conf) of_older_trace_ = value;
  if (key == key::event_source) only_reports_ = value == "reports";
  const std::string_view by_program = format::program_prefix;
  const std::string_view environment = format::environment_prefix;
  for (auto& one : variables_) {
    if (key.starts_with(by_program) && key.substr(by_program.size()) == one.name) {
      one.value = value;
      one.by_program = true;
    } else if (key.starts_with(environment) && key.substr(environment.size()) == one.name) {
      one.value = value;
    }
  }
  if (!key.starts_with(environment)) return;
  const auto name = key.substr(environment.size());
  if (std::ranges::find(format::environment_variables, name, [](const char* known) {
        return std::string_view(known);
      }) == std::ranges::end(format::environment_variables)) {
    unknown_.emplace_back(name, value);
  }
}

bool settings_of_environment::tells_what_it_reads() const {
  return release_of(torch_) >= torch_release{2, 9};
}

bool settings_of_environment::came_too_late(const variable& one) const {
  return one.by_program && tells_what_it_reads() && !only_reports_;
}

std::string settings_of_environment::in_force() const {
  const auto& [cuda, any] = variables_;
  if (cuda.value && !came_too_late(cuda)) return *cuda.value;
  if (any.value) return tells_what_it_reads() && !came_too_late(any) ? *any.value : std::string();
  return cuda.value ? std::string() : of_older_trace_;
}

std::string settings_of_environment::why_without_effect(const variable& one) const {
  const auto& [cuda, any] = variables_;
  if (one.name == any.name && !tells_what_it_reads()) {
    return fmt::format("PyTorch {} reads {} alone", torch_, cuda.name);
  }
  if (one.name == any.name && cuda.value) {
    return fmt::format("{} is set, too, and goes before it", cuda.name);
  }
  if (came_too_late(one)) {
    return "the program sets it after PyTorch has read its settings; set it before the program "
           "starts";
  }
  return {};
}

std::vector<std::string> settings_of_environment::without_effect() const {
  std::vector<std::string> sentences;
  if (torch_.empty()) return sentences;
  const auto is_in_force = [&, now = in_force()](const std::string& text) {
    return told_.contains(text) || text == now;
  };
  const auto say = [&](std::string_view name, std::string_view value, std::string_view why) {
    sentences.push_back(fmt::format("{}={} has no effect: {}.", name, value, why));
  };
  for (const auto& one : variables_) {
    if (!one.value || one.value->empty()) continue;
    if (is_in_force(*one.value)) continue;
    const auto why = why_without_effect(one);
    if (!why.empty()) say(one.name, *one.value, why);
  }
  for (const auto& [name, value] : unknown_) {
    if (is_in_force(value)) continue;  // somebody has passed it on
    say(name, value, fmt::format("PyTorch reads {}", variables_[0].name));
  }
  return sentences;
}

}  // namespace memtrace::allocator
