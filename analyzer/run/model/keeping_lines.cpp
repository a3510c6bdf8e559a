// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/keeping_lines.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace memtrace::run {

namespace {

// The way from the call to a frame, from the way to the frame before it.
[[nodiscard]] std::size_t through(std::size_t way, std::string_view file, std::string_view function,
                                  std::uint32_t line) {
  const std::hash<std::string_view> number_of;
  for (const std::size_t part : {number_of(file), number_of(function), std::size_t{line}}) {
    way = (way ^ part) * 0x9e3779b97f4a7c15u;
  }
  return way;
}

}  // namespace

keeping_lines::keeping_lines(const trace::dictionary& names, const replay::site_table& sites) {
  for (const auto& one : sites.fates()) {
    std::size_t way = 0;
    for (auto stack = one.stack; stack; stack = names[stack].parent) {
      const auto frame = names[names[stack].innermost];
      way = through(way, names[frame.file], names[frame.function], frame.line);
      auto& known = by_way_[way];
      known.held += one.held;
      known.freed += one.freed;
    }
  }
}

std::size_t keeping_lines::first_of(std::span<const code::source_frame> frames) const {
  std::size_t way = 0, best = 0;
  double largest = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    way = through(way, frames[i].file, frames[i].function, frames[i].line);
    const auto known = by_way_.find(way);
    if (known == by_way_.end()) break;
    const auto& [held, freed] = known->second;
    const auto share =
        static_cast<double>(held) / static_cast<double>(std::max<std::uint64_t>(held + freed, 1));
    if (share <= largest) continue;
    largest = share;
    best = i;
  }
  return best;
}

}  // namespace memtrace::run
