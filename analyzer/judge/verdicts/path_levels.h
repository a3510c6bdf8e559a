// SPDX-License-Identifier: Apache-2.0
//
// Of a path with containers in containers, which of them gets longer from census to census:
//
//   tracker.removed[…].crops[…]     removed 3 → 11, crops 4 → 4: ever more in `tracker.removed`
//   clients[…].control[…]           clients 45 → 45, control 6 → 6: more of what was there has it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::verdicts {

// As the eighth field of a record `held` says it, of one item on the path (trace_format.h).
struct path_level {
  std::uint64_t length = 0;  // 0: not known
  std::uint64_t most = 0;    // by itself: deque(maxlen=most); 0: any
  char keys = 0;             // 'i', 'k' or 'n'; 0: no dictionary
};

struct nested_level {
  path_level outer;
  path_level inner;  // of containers in it, which the path does not tell apart
};

// "45,10i/8": one for each item. Empty: not known.
[[nodiscard]] std::vector<nested_level> parse_levels(std::string_view text);

// The longer of both, item by item; those of one length only where they have as many items.
void take_longer(std::vector<nested_level>& known, const std::vector<nested_level>& others);

struct growing_level {
  std::string variable;      // tracker.removed
  std::uint64_t length = 0;  // by now
  std::uint64_t most = 0;    // as in path_level
  char keys = 0;
  bool in_elements = false;   // those of `variable` get longer, or are as many as they were
  bool has_elements = false;  // of `variable` are containers, too
};

struct levels_seen {
  std::vector<nested_level> first;
  std::vector<nested_level> latest;

  // The outermost that has become longer; its elements, if they have more.
  [[nodiscard]] std::optional<growing_level> growing(std::string_view path) const;
  // Of a path that was seen once: the one container on it, or the one of several that has as many
  // elements as there are blocks.
  [[nodiscard]] std::optional<growing_level> only(std::string_view path,
                                                  std::uint64_t blocks) const;
  // One that is bounded by itself and not full yet, around or in others.
  [[nodiscard]] bool may_fill() const;
  // All are known, and none has become longer.
  [[nodiscard]] bool are_as_long_as_before() const;
};

}  // namespace memtrace::verdicts
