// SPDX-License-Identifier: Apache-2.0
//
// Of a program that ran out of memory: the training pass or the call of a model before the one that
// failed, and what is at the same place in it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::blocks {

// From the first of its blocks to the first after it.
struct stretch_of_run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// What failed, by the event with which it began, and what came before it and is like it.
struct repetition {
  std::uint64_t failed = 0;
  stretch_of_run earlier;
};

// A call of a model: its number, and the first of its blocks.
struct model_call {
  std::uint32_t number = 0;
  trace::object_id root;
  trace::stack_id stack;
  std::uint64_t begin = 0;  // event
};

[[nodiscard]] std::vector<model_call> calls_until(const evidence& of,
                                                  allocator::block_number refused);

// A training pass, or its optimizer's step.
[[nodiscard]] std::optional<repetition> pass_again(const run_passes& passes, std::uint64_t refusal);
// The call of the model that begins in the same line.
[[nodiscard]] std::optional<repetition> call_again(const std::vector<model_call>& calls);

// The block of the earlier one that the refused one would have been in the one that failed: made by the
// same call stack, after as many others of it. Empty: there is none.
[[nodiscard]] std::optional<allocator::block_number> twin_of(const evidence& of,
                                                             allocator::block_number refused,
                                                             const repetition& again,
                                                             bool of_one_size);

// What will be there beyond what is, by what was there as each pass began: as many bytes more as it has
// risen by, in as many passes, or as before it fell.
[[nodiscard]] std::uint64_t rise_of(const std::vector<std::uint64_t>& levels);

}  // namespace memtrace::blocks
