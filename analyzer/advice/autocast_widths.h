// SPDX-License-Identifier: Apache-2.0
//
// In which width autocast would compute what this program computes in 32 bits, block by block:
// matrix products and convolutions in 16 bits, normalisation, softmax, losses and sums in 32,
// everything else in the width of what goes in (docs.pytorch.org/docs/stable/amp.html, "CUDA Op
// Reference").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/blocks/evidence.h"

namespace memtrace::advice {

enum class operation_kind : std::uint8_t {
  unknown,  // backward made nothing for it: additions, views
  product,  // in 16 bits
  wide,     // in 32 bits
  follows,  // as wide as its operands
};
// By the name of its autograd node: AddmmBackward0.
[[nodiscard]] operation_kind kind_of_node(std::string_view node);

struct autocast_widths {
  // By block_number; of blocks of training's forward and backward, else 32.
  std::vector<std::uint8_t> bits;
  std::vector<operation_kind> kinds;    // of the operation that made it
  std::vector<bool> normalises;         // made by a normalisation
  std::vector<bool> feeds_product;      // a product is computed next: it keeps its own copy
  std::vector<bool> takes_log_softmax;  // by log_softmax, or for its gradient
};
[[nodiscard]] autocast_widths widths_under_autocast(const blocks::evidence& of);

}  // namespace memtrace::advice
