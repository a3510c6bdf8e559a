// SPDX-License-Identifier: Apache-2.0
//
// Recognises the parts of a snapshot by their keys, and takes what they say into the contents.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/model/snapshot/contents.h"
#include "analyzer/model/snapshot/keys.h"
#include "analyzer/model/snapshot/pickle_value.h"

namespace memtrace::snapshot {

class shapes {
 public:
  enum class outcome : std::uint8_t { fine, scattered, not_written, too_many };

  explicit shapes(contents& to) : to_(to) {}

  // The items of a dictionary, keys and values by turns. `stands_for_it`: a value in place of the
  // dictionary, where there need be none; else `itself` says what it is.
  [[nodiscard]] outcome dict(std::span<const value> items, object& itself, value& stands_for_it);
  // The items that are appended to a list. `objects`: what they refer to.
  [[nodiscard]] outcome list(std::span<const value> items, object& itself,
                             std::span<const object> objects);
  [[nodiscard]] value pair(const value& first, const value& second);
  // Ends with the value that the pickle is. False: it is no snapshot.
  [[nodiscard]] bool finish(const value& whole, std::span<const object> objects);
  void refer_to(std::span<const object> objects) { objects_ = objects; }

 private:
  using fields = std::array<const value*, key_words.size() + 1>;

  [[nodiscard]] outcome event(const fields& of, value& made);
  void block(const fields& of, value& made);
  void segment(const fields& of, value& made);
  void mark(const fields& of, value& made);
  void settings(const fields& of);
  [[nodiscard]] bool numbers(std::span<const value> items, object& itself);
  [[nodiscard]] outcome add(const value& item, object& to);
  [[nodiscard]] outcome extend(object& list, shape as, std::uint64_t number) const;
  void take(const object& list);

  [[nodiscard]] const object* object_of(const value* of) const;
  [[nodiscard]] std::uint32_t stack_of(const value* of) const;

  contents& to_;
  std::span<const object> objects_;
  std::vector<std::uint32_t> frames_;  // of the list at hand
  std::vector<range> traces_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> numbers_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_;
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t, pair_hash>
      known_pairs_;
};

}  // namespace memtrace::snapshot
