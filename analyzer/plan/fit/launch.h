// SPDX-License-Identifier: Apache-2.0
//
// The command of one trial: the user's, with the trial's values in their places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "analyzer/plan/fit/plan.h"
#include "analyzer/plan/fit/value_place.h"

namespace memtrace::fit {

struct value_places {
  value_place batch;
  std::optional<value_place> sequence;
  std::optional<value_place> evaluation;  // their own batches
  std::optional<value_place> generation;
  std::optional<value_place> accumulation;  // set so that the effective batch stays
  std::uint64_t effective = 0;
  std::uint64_t devices = 1;
};

// Copies of configuration files go into `folder`.
[[nodiscard]] std::variant<launch, complaint> launch_of(const wishes& wanted,
                                                        const value_places& places, const trial& of,
                                                        const std::string& folder);

}  // namespace memtrace::fit
