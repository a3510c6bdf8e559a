// SPDX-License-Identifier: Apache-2.0
//
// The command of one trial: the user's, with the trial's values in their places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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

// Further axes beside GPU, length and batch: --vary 'precision=--bf16|--fp16|', of which every
// combination is fitted.
struct axis {
  std::string name;
  std::vector<std::string> choices;  // words of the command; empty: as it is
};

// Reads "NAME=WORDS|WORDS|", or a name that Hugging Face's Trainer has switches for.
[[nodiscard]] std::variant<axis, complaint> axis_in(const std::string& text);

// Every combination, the last axis fastest; one without words where there is no axis.
[[nodiscard]] std::vector<variant> combinations(const std::vector<axis>& axes);

// How many batches make the effective one, rounded up: over so many devices.
[[nodiscard]] std::uint64_t accumulation_of(std::uint64_t effective, std::uint64_t batch,
                                            std::uint64_t devices);

}  // namespace memtrace::fit
