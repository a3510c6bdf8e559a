// SPDX-License-Identifier: Apache-2.0
//
// Which line keeps memory, where all of it is got by one function. A stack from the call outwards, and
// how many of the blocks that were got that way are still held:
//
//   server.h:17 take            40 of 80     all memory is got here
//   chat.cpp:8 remember    ◄──  40 of 40     the first frame with the largest share
//   main.cpp:26 main            40 of 40
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "analyzer/model/replay/site_table.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::run {

class keeping_lines {
 public:
  // In proportion to the frames of all stacks.
  keeping_lines(const trace::dictionary& names, const replay::site_table& sites);

  // The index of that frame.
  [[nodiscard]] std::size_t first_of(std::span<const code::source_frame> frames) const;

 private:
  struct fates {
    std::uint64_t held = 0;
    std::uint64_t freed = 0;
  };
  std::unordered_map<std::size_t, fates> by_way_;  // from the call outwards, as numbers
};

}  // namespace memtrace::run
