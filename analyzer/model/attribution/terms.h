// SPDX-License-Identifier: Apache-2.0
//
// The words in which attribution speaks: categories, evidence, phases.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/text/enum_name.h"

namespace memtrace::attribution {

enum class category : std::uint8_t {
  weights,
  buffers,
  gradients,
  optimizer_states,
  activations,
  inputs,
  temporaries,
  workspace,
  outputs,
  kv_cache,   // keys and values of what has been read and written so far
  collected,  // results that the program gathers over many calls or steps
  other,      // known, but none of these
  unknown,    // no rule applies
};
inline constexpr std::size_t category_count = 13;

// How a category is known, strongest first.
enum class evidence : std::uint8_t {
  annotated,   // autograd, the agent, a library hook or the program said so
  inferred,    // a named rule says so
  propagated,  // memory from the same call site, module and phase is known
  unknown,
};
inline constexpr std::size_t evidence_count = 4;

enum class phase : std::uint8_t {
  forward,
  backward,
  optimizer,
  zero_grad,
  evaluation,
  data_loading,
  setup,  // before the first of these
  other,
};
inline constexpr std::size_t phase_count = 8;

enum class step_boundary : std::uint8_t {
  none,
  user,       // memtrace_step
  optimizer,  // Optimizer.step
  inferred,   // given to the attributor by who searched the event stream for its period
};

// As the report writes them: optimizer_states.
[[nodiscard]] constexpr std::string_view name_of(category what) {
  return text::enum_name(what);
}
[[nodiscard]] constexpr std::string_view name_of(evidence how) {
  return text::enum_name(how);
}
[[nodiscard]] constexpr std::string_view name_of(phase when) {
  return text::enum_name(when);
}
// Empty where steps have no boundary.
[[nodiscard]] constexpr std::string_view name_of(step_boundary what) {
  return what == step_boundary::none ? std::string_view() : text::enum_name(what);
}

// For people: "optimizer states"; "the backward pass", empty where none of the phases is meant.
[[nodiscard]] std::string words_of(category what);
[[nodiscard]] std::string words_of(phase when);
// "backward"; "between them" of what is no phase of training.
[[nodiscard]] std::string short_words_of(phase when);

[[nodiscard]] std::optional<category> category_named(std::string_view name);

// The rule of memory of which the program said what it is (docs/attribution.md).
inline constexpr std::string_view rule_of_annotations = "user_annotation";

template <class Enum, std::size_t count, class Value>
struct table_by {
  std::array<Value, count> values{};
  [[nodiscard]] Value& operator[](Enum key) { return values[static_cast<std::size_t>(key)]; }
  [[nodiscard]] const Value& operator[](Enum key) const {
    return values[static_cast<std::size_t>(key)];
  }
};
template <class Value>
using by_category = table_by<category, category_count, Value>;
template <class Value>
using by_evidence = table_by<evidence, evidence_count, Value>;
template <class Value>
using by_phase = table_by<phase, phase_count, Value>;

}  // namespace memtrace::attribution
