// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/terms.h"

namespace memtrace::attribution {

namespace {

constexpr std::array<std::string_view, category_count> category_names = {
    "weights",   "buffers", "gradients", "optimizer_states", "activations", "inputs", "temporaries",
    "workspace", "outputs", "other",     "unknown"};
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

std::optional<category> category_named(std::string_view name) {
  for (std::size_t i = 0; i < category_names.size(); ++i) {
    if (category_names[i] == name) return static_cast<category>(i);
  }
  return std::nullopt;
}

}  // namespace memtrace::attribution
