// SPDX-License-Identifier: Apache-2.0
//
// The passes of a run through its models, as the births of blocks tell them:
//
//   forward ───────► backward ───────► optimizer     forward ─► backward …     evaluation …
//   └────────── a training pass ────┘
//
// and of each block to which of both it belongs: what the program makes between calls of a model
// goes with the next call where it lives to see it (an input), else with the one before.
// Positions are event numbers of the request log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::blocks {

enum class activity : std::uint8_t { neither, training, evaluation };

struct training_pass {
  std::uint64_t forward = 0;   // event of its first block
  std::uint64_t backward = 0;  // the same
  std::uint64_t end = 0;       // of the first block after it; past the last event: it is the last
};

struct run_passes {
  std::vector<training_pass> training;
  // The first event of a forward pass that no backward pass followed at the end of the run.
  std::optional<std::uint64_t> unfinished;
  std::vector<activity> of_block;  // by block_number
  // Calls of models whose graph no backward pass used, as it was gone before any, or outlived those
  // that came: evaluation, though gradients were recorded. By call: bytes that autograd kept.
  std::map<std::uint32_t, std::uint64_t> without_backward;
  // One of these of which nobody knows it: the call in which memory ran out, in another line than those
  // before it that trained the same model.
  std::optional<std::uint32_t> failed_elsewhere;
  // The first block that is born after each of these graphs is gone: what autograd keeps, and what
  // goes just then, one of them has kept.
  std::set<allocator::block_number> born_after_unused_graphs;
  bool evaluates = false;

  // That whose forward or backward pass this event lies in or after; empty: before the first.
  [[nodiscard]] std::optional<std::size_t> at(std::uint64_t event) const;
  [[nodiscard]] bool trains() const { return !training.empty() || unfinished.has_value(); }
};

[[nodiscard]] run_passes passes_of(const evidence& of);

// The backward passes of an optimizer's step that follow forward passes of one line: micro-batches,
// whose gradients are added up. 1: none, or most steps have not the same number.
[[nodiscard]] std::uint32_t micro_batches(const evidence& of, const run_passes& passes);

// What autograd keeps is of pairs of the rows that it keeps, too: (heads, rows, rows) beside
// (rows, width). Of sequences the rows beside them are those of all samples; a mask (rows, rows)
// says nothing.
[[nodiscard]] bool trains_on_pairs(const evidence& of, const run_passes& passes);

// Events of a block's birth and of its free; past the last event where it lives to the end.
[[nodiscard]] std::uint64_t birth_event(const evidence& of, allocator::block_number block);
[[nodiscard]] std::uint64_t death_event(const evidence& of, allocator::block_number block);
[[nodiscard]] std::uint64_t end_event(const evidence& of);

// The first block born at this event or after it; as many as there are: none.
[[nodiscard]] allocator::block_number block_from(const evidence& of, std::uint64_t event);

// The last refusal of this device that the program did not catch; null: there is none.
[[nodiscard]] const replay::out_of_memory* fatal_oom(const evidence& of);
// Its request, which has no facts: nothing was made. Empty: there is none.
[[nodiscard]] std::optional<allocator::block_number> fatal_refusal(const evidence& of);

// Requested bytes of a block; 0 where the log does not say.
[[nodiscard]] std::uint64_t bytes_of(const evidence& of, allocator::block_number block);

// Blocks that are alive right after a request.
[[nodiscard]] std::vector<allocator::block_number> alive_after(const evidence& of,
                                                               std::uint32_t request);

}  // namespace memtrace::blocks
