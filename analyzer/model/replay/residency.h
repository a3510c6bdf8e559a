// SPDX-License-Identifier: Apache-2.0
//
// Which addresses of PyTorch's memory have no physical memory behind them at the moment: engines
// that sleep while a trainer works take it away and put it back, and their blocks stay allocated.
//
//   cuMemUnmap ──► asleep      the block, its owner and its address stay; it takes no memory
//   cuMemMap ────► resident
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

struct address_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
};

// A call took away what is behind a range, or put something behind it.
struct backing_change {
  address_range where;
  bool is_backed = false;
};

// The calls that do so, and those that turned out to have failed.
class backing_calls {
 public:
  [[nodiscard]] static std::optional<backing_change> of(std::string_view api,
                                                        const trace::cuda_call_event& call);
  void remember(const backing_change& made);
  [[nodiscard]] std::optional<backing_change> undone(std::string_view api,
                                                     const trace::cuda_undo_event& failed) const;

 private:
  std::deque<address_range> unmapped_;  // the latest few: a release is recorded before it is tried
};

// Addresses that are asleep: ranges that do not touch.
class asleep_ranges {
 public:
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  // Returns what of it was not asleep before.
  std::vector<address_range> add(address_range one);
  // Returns what of it was asleep before.
  std::vector<address_range> remove(address_range one);
  [[nodiscard]] std::uint64_t bytes_in(address_range one) const;

 private:
  using map_type = std::map<std::uint64_t, std::uint64_t>;  // begin, end
  // The first range that ends after the address.
  [[nodiscard]] map_type::const_iterator first_beyond(std::uint64_t address) const;

  map_type ranges_;
};

// A block has more or fewer bytes asleep than before.
struct sleep_change {
  std::uint64_t address = 0;
  std::uint64_t asleep = 0;  // of its bytes, now
};

}  // namespace memtrace::replay
