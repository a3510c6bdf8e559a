// SPDX-License-Identifier: Apache-2.0
//
// In which width autocast would compute what this program computes in 32 bits, block by block:
// matrix products and convolutions in 16 bits, normalisation, softmax, losses and sums in 32,
// everything else in the width of what goes in (docs.pytorch.org/docs/stable/amp.html, "CUDA Op
// Reference").
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::blocks {

enum class operation_kind : std::uint8_t {
  unknown,  // backward made nothing for it: additions, views
  product,  // in 16 bits
  wide,     // in 32 bits
  follows,  // as wide as its operands
};
// By the name of its autograd node: AddmmBackward0.
[[nodiscard]] operation_kind kind_of_node(std::string_view node);

// A copy in another width that an operation keeps instead of what it was given.
struct cast_copy {
  allocator::block_number of = 0;
  allocator::block_number by = 0;  // the first block of the operation
  std::uint8_t bits = 16;
};

struct autocast_widths {
  // By block_number; of blocks of training's forward and backward, else 32.
  std::vector<std::uint8_t> bits;
  std::vector<std::uint8_t> operand_bits;  // of what the operation was given
  std::vector<operation_kind> kinds;       // of the operation that made it
  // Kept as it is by an operation; false: by none, or all that keep it keep copies.
  std::vector<bool> kept_itself;
  // For what a softmax in 32 bits made whose operand is cast for it: the event at which the cast is
  // given back. At once, or, where the program itself casts (transformers' losses), when the loss
  // is there. 0: nothing is cast.
  std::vector<std::uint64_t> cast_ends;
  std::vector<cast_copy> copies;  // by what they are of
};
[[nodiscard]] autocast_widths widths_under_autocast(const evidence& of);

// Items of a sorted list that have one value of a member: std::ranges::equal_range, whose result
// clang 14 cannot compile with GCC 12's library.

template <class Item, class Value>
[[nodiscard]] std::span<const Item> equal_members(const std::vector<Item>& sorted,
                                                  const Value& value, Value Item::*member) {
  return {std::ranges::lower_bound(sorted, value, {}, member),
          std::ranges::upper_bound(sorted, value, {}, member)};
}

}  // namespace memtrace::blocks
