// SPDX-License-Identifier: Apache-2.0
//
// Which blocks grow and shrink with the size of the batch. What a model computes does (activations,
// inputs, outputs, scratch memory of forward and backward), what is shaped like parameters does not
// (weights, gradients, states, autocast's copies, and in backward the gradient of a parameter that
// is added to an existing one).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

// By block_number. Of training or of evaluation.
[[nodiscard]] std::vector<bool> scales_with_batch(const blocks::evidence& of,
                                                  const blocks::run_passes& passes,
                                                  blocks::activity which);

// In how many parts a batch can be divided at most, as far as shapes are known: a power of two. 1: it is
// a single sample, or what is computed in training is of pairs of its rows (a graph, a loss over pairs
// of the batch).
[[nodiscard]] std::uint32_t most_parts_of_batch(const blocks::evidence& of,
                                                const blocks::run_passes& passes,
                                                blocks::activity which);

// By the first dimension of what training or evaluation made, its bytes: of tensors whose shape is
// known, as autograd kept them, or as they were found when memory had run out.
[[nodiscard]] std::map<std::uint64_t, std::uint64_t> bytes_by_first_dimension(
    const blocks::evidence& of, const blocks::run_passes& passes, blocks::activity which);

// Made in a backward pass in the shape of a parameter of the module whose gradient is computed;
// by block_number.
[[nodiscard]] std::vector<bool> shaped_like_parameters(const blocks::evidence& of);

// Which part of a program's memory grows with the length of its sequences: all that grows with the
// batch, and attention scores with the square.

// It runs modules that take sequences: of words (embeddings), or recurrent ones. Attention alone
// may work on pieces of an image.
[[nodiscard]] bool works_on_sequences(const blocks::evidence& of);

// By block_number: stored attention scores, and scratch memory of their size in the same module.
[[nodiscard]] std::vector<bool> grows_quadratically(const blocks::evidence& of);

}  // namespace memtrace::advice
