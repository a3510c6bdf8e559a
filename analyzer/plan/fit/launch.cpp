// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

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

std::variant<launch, complaint> launch_of(const wishes& wanted, const value_places& places,
                                          const trial& of, const std::string& folder) {
  launch made{wanted.command, {}};
  put_words(wanted.variants[of.variant].words, made);
  const auto training = of.what == batch_of::training ? of.batch : of.training_batch;
  auto why = places.batch.put(std::to_string(training), made, folder);
  for (const auto& [what, place] : {std::pair(batch_of::evaluation, &places.evaluation),
                                    std::pair(batch_of::generation, &places.generation)}) {
    // Where another one is looked for, this one is as the command has it.
    if (why.empty() && of.what == what && *place) {
      why = (*place)->put(std::to_string(of.batch), made, folder);
    }
  }
  if (why.empty() && places.sequence && of.sequence) {
    why = places.sequence->put(std::to_string(*of.sequence), made, folder);
  }
  if (why.empty() && places.accumulation) {
    const auto times = accumulation_of(places.effective, training, places.devices);
    why = places.accumulation->put(std::to_string(times), made, folder);
  }
  if (!why.empty()) return complaint{std::move(why)};
  return made;
}

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
