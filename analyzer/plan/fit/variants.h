// SPDX-License-Identifier: Apache-2.0
//
// Further axes beside GPU, length and batch: --vary 'precision=--bf16|--fp16|', of which every
// combination is fitted.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/plan/fit/plan.h"
#include "analyzer/plan/fit/value_place.h"

namespace memtrace::fit {

struct axis {
  std::string name;
  std::vector<std::string> choices;  // words of the command; empty: as it is
};

// Of "NAME=WORDS|WORDS|", or of a name that Hugging Face's Trainer has switches for.
[[nodiscard]] std::variant<axis, complaint> axis_in(const std::string& text);

// Every combination, the last axis fastest; one without words where there is no axis.
[[nodiscard]] std::vector<variant> combinations(const std::vector<axis>& axes);

// How many batches make the effective one, rounded up: over so many devices.
[[nodiscard]] std::uint64_t accumulation_of(std::uint64_t effective, std::uint64_t batch,
                                            std::uint64_t devices);

}  // namespace memtrace::fit
