// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/places.h"

#include <fmt/core.h>

#include <algorithm>

namespace memtrace::tables {

std::uint32_t places::frame(const code::source_frame& found) {
  auto line = fmt::format("{}:{} {}", found.file, found.line, found.function);
  const auto [known, is_new] =
      numbers_.try_emplace(std::move(line), static_cast<std::uint32_t>(frames_.size() + 1));
  if (!is_new) return known->second;
  const auto& kept = frames_.emplace_back(place{found, known->first});
  to_.add(frames,
          std::array<value, 6>{whole(known->second), kept.frame.file, whole(kept.frame.line),
                               kept.frame.function, whole(kept.frame.user ? 1 : 0), kept.line});
  return known->second;
}

std::uint32_t places::frame(const trace::dictionary& names, trace::frame_id id) {
  auto& known = known_frames_[id.value];
  if (known == 0) {
    const auto found = names[id];
    const auto file = names[found.file];
    known = frame(code::source_frame{std::string(file), found.line,
                                     std::string(names[found.function]), code::is_user_code(file)});
  }
  return known;
}

std::uint32_t places::push(std::uint32_t caller, std::uint32_t frame) {
  const auto [known, is_new] =
      by_caller_.try_emplace({caller, frame}, static_cast<std::uint32_t>(stacks_.size() + 1));
  if (!is_new) return known->second;
  node made{frame, 1};
  if (caller != 0) {
    const auto outer = stacks_[caller - 1];
    made.depth += outer.depth;
    const bool outer_is_better = !(*this)[frame].frame.user && (*this)[outer.site].frame.user;
    if (outer_is_better) made.site = outer.site;
  }
  stacks_.push_back(made);
  to_.add(stacks, std::array<value, 4>{whole(known->second), caller == 0 ? value() : whole(caller),
                                       whole(frame), whole(made.depth)});
  return known->second;
}

std::uint32_t places::stack(const trace::dictionary& names, trace::stack_id stack) {
  std::vector<trace::stack_id> unknown;
  std::uint32_t number = 0;
  for (auto at = stack; at; at = names[at].parent) {
    const auto known = known_stacks_.find(at.value);
    if (known != known_stacks_.end()) {
      number = known->second;
      break;
    }
    unknown.push_back(at);
  }
  for (auto at = unknown.rbegin(); at != unknown.rend(); ++at) {
    number = push(number, frame(names, names[*at].innermost));
    known_stacks_.emplace(at->value, number);
  }
  return number;
}

std::uint32_t places::site_of(const std::vector<code::source_frame>& innermost_first) {
  if (innermost_first.empty()) return 0;
  const auto own = std::ranges::find_if(innermost_first, &code::source_frame::user);
  return frame(own == innermost_first.end() ? innermost_first.front() : *own);
}

}  // namespace memtrace::tables
