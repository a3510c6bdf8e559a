// SPDX-License-Identifier: Apache-2.0
//
// One path that keeps memory alive: what a record `held` says of it, which of its containers gets
// longer, and whether what it keeps grows from heap scan to heap scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::verdicts {

// Which container of a path with containers in containers gets longer from heap scan to heap scan:
//
//   tracker.removed[…].crops[…]     removed 3 → 11, crops 4 → 4: ever more in `tracker.removed`
//   clients[…].control[…]           clients 45 → 45, control 6 → 6: more of what was there has it

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
  // For a path that was seen once: the one container on it, or the one of several that has as many
  // elements as there are blocks.
  [[nodiscard]] std::optional<growing_level> only(std::string_view path,
                                                  std::uint64_t blocks) const;
  // One that is bounded by itself and not full yet, around or in others.
  [[nodiscard]] bool may_fill() const;
  // All are known, and none has become longer.
  [[nodiscard]] bool are_as_long_as_before() const;
};

// The two texts of a record `held`, taken apart (see trace_format.h).

struct held_path {
  std::string path;       // self.outputs[…]
  std::string container;  // list, deque(maxlen=50)
  std::uint64_t length = 0;
  std::string also;   // path of another container that has the same memory
  std::string owner;  // local of fit
  std::string file;
  std::uint32_t line = 0;
  std::string holder;   // Trainer
  std::string numbers;  // capacity=40,budget=320
  std::vector<nested_level> levels;
  std::vector<std::string> classes;  // of the objects that have the attributes on the path

  // The part that stays the same while the containers on the path get longer.
  [[nodiscard]] std::string identity() const;
};

// Fields of the second text, by their place in it (format_of_meaning.h).
enum class held_field : std::size_t { also = 9, used = 10, shape = 11, trainer = 12 };
// Empty: not known.
[[nodiscard]] std::string_view field_of(std::string_view detail, held_field which);

[[nodiscard]] held_path parse_held(std::string_view name, std::string_view detail);

// The container of a path: `self.outputs` of self.outputs[…].
[[nodiscard]] std::string container_at(std::string_view path);

// The number of elements that a container is limited to, as its name says: 50 of
// "deque(maxlen=50)". 0: none is said.
[[nodiscard]] std::uint64_t limit_of(std::string_view container);

// Does what one path keeps alive grow from heap scan to heap scan?
//
//   bytes │        ╭─● p          p: where it held most (the latest such heap scan)
//         │     ●──╯  ·           s: where the rise to p began; a fall back by more than a
//         │  ●─╯       ·             tenth of what has risen since ends the search
//         │ s           ●         the rate is that between s and p
//         └──────────────► step

struct path_point {
  double step = 0;
  std::uint64_t bytes = 0;
};

struct path_growth {
  double bytes_per_step = 0;
  std::size_t rises = 0;    // intervals in which it grew, of the rise
  bool to_the_end = false;  // the last heap scan belongs to it
  // Growth once or long ago is no leak: a cache that filled, the state of the first step.
  [[nodiscard]] bool leaks() const { return rises >= 2 && to_the_end; }
};

// By ascending step.
[[nodiscard]] path_growth growth_of(std::span<const path_point> points);

}  // namespace memtrace::verdicts
