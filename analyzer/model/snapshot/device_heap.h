// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a device as the events go by, so that each event's block has its size: a snapshot's
// events say what was requested, and PyTorch's totals count whole blocks.
//
//   a free run   A ─────────────── end      taken from its low end
//   block        A ──── rounded             if the rest is worth keeping (should_split)
//                A ─────────────── end      else
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/snapshot/ranges.h"

namespace memtrace::snapshot {

class device_heap {
 public:
  explicit device_heap(const allocator::settings& settings) : settings_(settings) {}

  void add_segment(std::uint64_t address, std::uint64_t bytes, bool expandable);
  void remove_segment(std::uint64_t address, std::uint64_t bytes, bool expandable);

  // `bytes`: of the block, where they are known. Returns them.
  std::uint64_t allocate(std::uint64_t address, std::uint64_t requested, std::uint64_t bytes = 0);
  // The block's; 0: none is there, or its free was requested before.
  std::uint64_t request_free(std::uint64_t address);
  void complete_free(std::uint64_t address);

  struct held {
    std::uint64_t bytes = 0;
    bool pending = false;
  };
  // Where the segment begins that holds the address; nothing of expandable ones.
  [[nodiscard]] std::optional<std::uint64_t> segment_of(std::uint64_t address) const;
  [[nodiscard]] std::optional<held> block_at(std::uint64_t address) const;
  [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
  [[nodiscard]] std::uint64_t reserved() const { return reserved_; }

 private:
  [[nodiscard]] std::uint64_t size_of_block(std::uint64_t address, std::uint64_t requested) const;

  allocator::settings settings_;
  std::map<std::uint64_t, std::uint64_t> segments_;  // address → bytes; not expandable
  ranges mapped_;
  std::map<std::uint64_t, held> blocks_;
  std::uint64_t allocated_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace memtrace::snapshot
