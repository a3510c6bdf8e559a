// SPDX-License-Identifier: Apache-2.0
//
// Whose requests made the allocator reserve more, after the first steps: the culprits where
// reserved memory grows and allocated memory does not.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/attribution/block_life.h"

namespace memtrace::verdicts {

class segment_makers {
 public:
  // A block was made in this step; so much is reserved now.
  void born(std::uint32_t site, const attribution::block_life& block, std::uint64_t reserved,
            std::uint64_t step) {
    if (reserved > reserved_ && step >= first_steps) note(site, block, reserved - reserved_);
    reserved_ = reserved;
  }
  // Of a growth of so many bytes a step; most first.
  [[nodiscard]] std::vector<culprit> culprits(double bytes_per_step) const;

 private:
  static constexpr std::uint64_t first_steps = 3;  // in which what is needed anyway is reserved

  void note(std::uint32_t site, const attribution::block_life& block, std::uint64_t bytes);

  std::uint64_t reserved_ = 0;
  std::map<std::uint32_t, culprit> by_site_;
};

}  // namespace memtrace::verdicts
