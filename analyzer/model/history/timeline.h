// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device over the whole run, at a bounded number of moments, in one pass. The run
// is divided into stretches of equally many events; of each the moment of its highest total is
// kept, and who held what then is exact. When there are too many, two and two become one.
//
//   total  ·  ▂ █ ▃ · ▂ ▆ ▂ ·            of each stretch: its highest moment
//          ├───────┼───────┤
//   blocks ├─────────┤                   counted at the moments that lie within its life
//
// The category of a block may be known only at the end: it counts for a kind, which the caller
// numbers. Memory: moments times kinds, and the blocks that lived in the stretch that is not over
// yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace memtrace::history {

inline constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

struct moment {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t allocated = 0;  // bytes
  std::uint64_t reserved = 0;
  std::uint64_t most_reserved = 0;    // in its stretch
  std::uint32_t backwards_ended = 0;  // passes, until then
};

struct life {
  std::uint64_t born = 0;  // event
  std::uint64_t died = never;
  std::uint64_t bytes = 0;
  std::uint32_t kind = 0;
  // From the moment on at which more than `until_backward` passes had ended it is of `later_kind`.
  std::uint32_t until_backward = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t later_kind = 0;
};

class timeline {
 public:
  explicit timeline(std::size_t most_moments = 2000) : most_moments_(most_moments) {}

  // In the order of their events: the totals after an allocation.
  void grew(const moment& now);
  // A block has ended, after grew() for every allocation before that.
  void lived(const life& block);
  void finish();  // no more of either

  [[nodiscard]] const std::vector<moment>& moments() const { return moments_; }
  // Bytes of a kind at each of the moments; after finish().
  [[nodiscard]] std::vector<std::uint64_t> bytes_of(std::uint32_t kind) const;
  [[nodiscard]] std::size_t kinds() const { return changes_.size(); }

 private:
  void close();
  void halve();
  void count(const life& block, std::size_t first, std::size_t last);
  void change(std::uint32_t kind, std::size_t first, std::size_t last, std::uint64_t bytes);
  [[nodiscard]] std::size_t first_from(std::uint64_t event) const;

  std::size_t most_moments_;
  std::uint64_t width_ = 1;         // events a stretch: of a short run each allocation is a moment
  std::uint64_t open_stretch_ = 0;  // its number
  bool has_open_ = false;
  moment open_;                     // the highest of the stretch that is not over
  std::vector<life> inconclusive_;  // that may live at it
  std::vector<moment> moments_;
  // By kind: how its bytes differ at each moment from the one before; in two's complement.
  std::vector<std::vector<std::uint64_t>> changes_;
};

}  // namespace memtrace::history
