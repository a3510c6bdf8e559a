// SPDX-License-Identifier: Apache-2.0
//
// What of a program's memory grows with the length of its sequences: what grows with the batch,
// and attention scores with the square.
#pragma once

#include <vector>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::advice {

// It runs modules that take sequences: of words (embeddings), or recurrent ones. Attention alone
// may work on pieces of an image.
[[nodiscard]] bool works_on_sequences(const blocks::evidence& of);

// By block_number: stored attention scores, and scratch memory of their size in the same module.
[[nodiscard]] std::vector<bool> grows_quadratically(const blocks::evidence& of);

}  // namespace memtrace::advice
