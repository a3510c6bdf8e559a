// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/plan.h"

#include <fmt/core.h>

namespace memtrace::estimate {

namespace {

// Beyond these a figure is a slip of the finger, and products of them no longer exact.
constexpr std::uint64_t most_parameters = 100'000'000'000'000;
constexpr std::uint64_t most_batch = 1'000'000;
constexpr std::uint64_t most_tokens = 100'000'000;
constexpr std::uint64_t most_layers = 10'000;
constexpr std::uint64_t most_width = 1'000'000;
constexpr std::uint64_t most_vocabulary = 100'000'000;
constexpr std::uint64_t most_devices = 1'000'000;

[[nodiscard]] std::string problem_with(const model_shape& shape, const adapters& lora) {
  if (shape.layers == 0 || shape.hidden == 0 || shape.heads == 0) {
    return "a shape needs --layers, --hidden and --heads, all three";
  }
  if (shape.layers > most_layers || shape.hidden > most_width || shape.feed_forward > most_width ||
      shape.vocabulary > most_vocabulary || shape.heads > most_width ||
      shape.kv_heads > shape.heads) {
    return fmt::format(
        "at most {} layers, {} in width and {} words, and no more key-value heads than heads",
        most_layers, most_width, most_vocabulary);
  }
  if (shape.like != family::t5 && shape.hidden % shape.heads != 0) {
    return fmt::format("--hidden {} cannot be divided among --heads {}", shape.hidden, shape.heads);
  }
  if (lora.rank > shape.hidden) {
    return fmt::format("an adapter of rank {} is no smaller than a layer of {}", lora.rank,
                       shape.hidden);
  }
  return {};
}

}  // namespace

std::string problem_with(const plan& wanted) {
  if (wanted.shape) {
    if (auto problem = problem_with(*wanted.shape, wanted.lora); !problem.empty()) return problem;
  } else if (wanted.parameters == 0) {
    return "say how large the model is: --model NAME, --parameters NUMBER, or --layers, --hidden, "
           "--heads and --vocabulary";
  } else if (wanted.lora.rank != 0) {
    return "adapters need the shape of the model: --model NAME, or --layers, --hidden and --heads";
  } else if (wanted.sequence != 0) {
    return "activations need the shape of the model: --model NAME, or --layers, --hidden and "
           "--heads; or leave --sequence out";
  }
  if (wanted.parameters > most_parameters) return "that many parameters no model has";
  if (wanted.batch == 0 || wanted.batch > most_batch) {
    return fmt::format("--batch must be from 1 to {}", most_batch);
  }
  if (wanted.sequence > most_tokens || wanted.decoder_sequence > most_tokens) {
    return fmt::format("--sequence must be at most {}", most_tokens);
  }
  if (wanted.devices == 0 || wanted.devices > most_devices) {
    return fmt::format("a model is sharded over 1 to {} devices", most_devices);
  }
  return {};
}

}  // namespace memtrace::estimate
