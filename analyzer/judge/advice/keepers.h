// SPDX-License-Identifier: Apache-2.0
//
// Which operations keep a block for their backward pass, told by what they allocated.
//
//   block 7 ─ kept as an operand by the operation that made block 8
//           └ kept by its own operation as a result
#pragma once

#include <span>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::advice {

class keepers {
 public:
  struct use {
    allocator::block_number block = 0;
    allocator::block_number by = 0;  // the first block of the operation; of a result: itself
    bool output = false;             // a result of the operation
  };

  explicit keepers(const blocks::evidence& of);

  // Each operation that keeps it. Empty: none does, or the trace does not say.
  [[nodiscard]] std::span<const use> of(allocator::block_number block) const;
  // What the operation that made this block keeps of what it was given.
  [[nodiscard]] std::span<const use> operands_of(allocator::block_number by) const;

 private:
  std::vector<use> by_block_;
  std::vector<use> by_keeper_;  // operands alone
};

}  // namespace memtrace::advice
