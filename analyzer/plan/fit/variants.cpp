// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/variants.h"

#include <fmt/core.h>

#include <algorithm>

namespace memtrace::fit {

namespace {

struct known_axis {
  const char* name;
  const char* choices;
};

// Switches of transformers.TrainingArguments.
constexpr known_axis trainer[] = {
    {"precision", "|--bf16|--fp16"},
    {"checkpointing", "|--gradient_checkpointing"},
    {"optimizer", "--optim adamw_torch|--optim adafactor|--optim adamw_bnb_8bit|--optim sgd"},
};

[[nodiscard]] std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{{}};
  for (const char one : text) {
    if (one == '|') {
      parts.emplace_back();
    } else {
      parts.back() += one;
    }
  }
  return parts;
}

}  // namespace

std::variant<axis, complaint> axis_in(const std::string& text) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  std::string choices;
  if (equals != text.npos) {
    choices = text.substr(equals + 1);
  } else {
    const auto* const known =
        std::ranges::find_if(trainer, [&](const auto& one) { return one.name == name; });
    if (known == std::end(trainer)) {
      return complaint{fmt::format(
          "--vary {}: write NAME=FLAGS|FLAGS|, as --vary 'precision=--bf16|' with nothing for the "
          "command as it is; precision, checkpointing and optimizer alone are the switches of "
          "Hugging Face's Trainer",
          text)};
    }
    choices = known->choices;
  }
  axis made{name, split(choices)};
  if (name.empty() || made.choices.size() < 2) {
    return complaint{fmt::format(
        "--vary {}: an axis has a name and two alternatives at least: NAME=FLAGS|FLAGS", text)};
  }
  return made;
}

std::vector<variant> combinations(const std::vector<axis>& axes) {
  std::vector<variant> made{{}};
  for (const auto& one : axes) {
    std::vector<variant> longer;
    for (const auto& before : made) {
      for (const auto& choice : one.choices) {
        auto now = before;
        now.names.push_back(choice.empty() ? "as is" : choice);
        const auto words = words_of(choice);
        now.words.insert(now.words.end(), words.begin(), words.end());
        longer.push_back(std::move(now));
      }
    }
    made = std::move(longer);
  }
  return made;
}

std::uint64_t accumulation_of(std::uint64_t effective, std::uint64_t batch, std::uint64_t devices) {
  const auto at_once = std::max<std::uint64_t>(1, batch * devices);
  return std::max<std::uint64_t>(1, (effective + at_once - 1) / at_once);
}

}  // namespace memtrace::fit
