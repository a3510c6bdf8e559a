// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/terms.h"

#include <algorithm>

namespace memtrace::attribution {

namespace {

constexpr std::array<std::string_view, category_count> category_names = {
    "weights",   "buffers", "gradients", "optimizer_states", "activations", "inputs", "temporaries",
    "workspace", "outputs", "kv_cache",  "collected",        "other",       "unknown"};
constexpr std::array<std::string_view, evidence_count> evidence_names = {"annotated", "inferred",
                                                                         "propagated", "unknown"};
constexpr std::array<std::string_view, phase_count> phase_names = {
    "forward",    "backward",     "optimizer", "zero_grad",
    "evaluation", "data_loading", "setup",     "other"};
constexpr std::array<std::string_view, 4> boundary_names = {"", "user", "optimizer", "inferred"};

}  // namespace

std::string_view name_of(category what) {
  return category_names[static_cast<std::size_t>(what)];
}

std::string_view name_of(evidence how) {
  return evidence_names[static_cast<std::size_t>(how)];
}

std::string_view name_of(phase when) {
  return phase_names[static_cast<std::size_t>(when)];
}

std::string_view name_of(step_boundary what) {
  return boundary_names[static_cast<std::size_t>(what)];
}

std::string words_of(category what) {
  std::string out(name_of(what));
  std::ranges::replace(out, '_', ' ');
  return out;
}

std::string words_of(phase which) {
  switch (which) {
    case phase::forward:
      return "the forward pass";
    case phase::backward:
      return "the backward pass";
    case phase::optimizer:
      return "the optimizer";
    case phase::zero_grad:
      return "zero_grad";
    case phase::evaluation:
      return "evaluation";
    case phase::data_loading:
      return "data loading";
    case phase::setup:
      return "setup";
    case phase::other:
      break;
  }
  return {};
}

std::string short_words_of(phase which) {
  if (which == phase::other) return "between them";
  std::string name(name_of(which));
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::optional<category> category_named(std::string_view name) {
  for (std::size_t i = 0; i < category_names.size(); ++i) {
    if (category_names[i] == name) return static_cast<category>(i);
  }
  return std::nullopt;
}

}  // namespace memtrace::attribution
