// SPDX-License-Identifier: Apache-2.0
//
// Changes to a request log: what a changed program would ask for instead. Positions are event
// numbers, and blocks keep their numbers, so that the changes of one piece can be made to a log
// that another piece has changed before. Sizes are bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/allocator/request_log.h"

namespace memtrace::allocator {

class request_edits {
 public:
  // By the size that the log has by then.
  void scale(block_number block, std::uint32_t numerator, std::uint32_t denominator);
  // Never asked for; request_log::allocations then has UINT32_MAX for it.
  void drop(block_number block);
  // Given back right before the first request of `event` or a later one, but after it was made.
  void free_at(block_number block, std::uint64_t event);
  // Lives to the end.
  void keep(block_number block);

  // A further block on the stream and in the pool of `like`, and as large or a share of it.
  using added = std::uint32_t;
  [[nodiscard]] added allocate(std::uint64_t event, block_number like, std::uint32_t numerator = 1,
                               std::uint32_t denominator = 1);
  // At the same event in the order of these calls. Without it the block lives to the end.
  void free(added block, std::uint64_t event);

  [[nodiscard]] bool empty() const { return changes_.empty() && added_.empty(); }
  void apply(request_log& log) const;

 private:
  enum class end : std::uint8_t { as_before, moved, kept, dropped };
  struct change {
    block_number block = 0;
    std::uint32_t numerator = 1;
    std::uint32_t denominator = 1;
    end ends = end::as_before;
    std::uint64_t event = 0;
    std::uint32_t order = 0;
  };
  struct new_block {
    block_number like = 0;
    std::uint32_t numerator = 1;
    std::uint32_t denominator = 1;
    std::uint32_t born_order = 0;
    std::uint32_t free_order = 0;
    bool freed = false;
    std::uint64_t born = 0;
    std::uint64_t dies = 0;
  };
  class application;

  std::vector<change> changes_;
  std::vector<new_block> added_;
  std::uint32_t order_ = 0;
};

// Calls of torch.cuda.empty_cache() left out of a program's requests, or put into them. Positions
// are event numbers.

void remove_empty_cache(request_log& log);

// Right before the first request of each of these events (ascending) or a later one.
void add_empty_cache(request_log& log, const std::vector<std::uint64_t>& before);

}  // namespace memtrace::allocator
