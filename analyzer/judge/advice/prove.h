// SPDX-License-Identifier: Apache-2.0
//
// The saving of a proposal, by replaying the requests of the changed program.
//
//   before  the peak that was recorded (of a part of a run: the replayed one)
//   after   the changed requests under the changed options on the same device: the worst of all
//           address policies
//
// Of a run that ended when memory ran out both are the least memory that the requests up to the
// refused one, and that, get through with: PyTorch gives its cache back before it fails, so that the
// peak on a larger device would be more than is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/blocks/what_follows.h"

namespace memtrace::advice {

// Nothing of it changes after it was made, so that proposals can be proved side by side.
class prover {
 public:
  explicit prover(const blocks::evidence& of);

  // Empty: the changed program would not get through, or be worse off.
  [[nodiscard]] std::optional<piece> prove(const proposal& what) const;
  // One replay: the peak reserved with all of these, in their order; empty: runs out of memory.
  [[nodiscard]] std::optional<std::uint64_t> peak_with(const std::vector<const proposal*>& all,
                                                       bool all_policies) const;
  [[nodiscard]] std::uint64_t peak_before() const { return reserved_before_; }

  // The smallest capacity that fits, before and after, of pieces that were replayed: some hundred
  // replays each.
  void find_capacities(const std::vector<piece*>& pieces) const;

  // Savings of device memory below this are not worth a word.
  [[nodiscard]] std::uint64_t least_saving() const;
  [[nodiscard]] bool ran_out() const { return refused_.has_value(); }

 private:
  struct changed {
    allocator::request_log rewritten;
    const allocator::request_log* log = nullptr;  // rewritten, or as it was
    allocator::scenario under;
  };
  void change(const std::vector<const proposal*>& all, changed& into) const;
  // With what the requests up to the refused one, and that, got through.
  struct got_through {
    std::uint64_t allocated = 0;  // bytes at most
    std::uint64_t least = 0;      // bytes of the smallest device
    bool leaves_all = false;      // that is there: a setting, empty_cache()
  };
  // For what follows the refusal: as much as a pass or a call before took from there on, or what the
  // rest of a first training pass takes at least. Unknown: it is more than that, or nothing tells.
  enum class room_left : std::uint8_t { too_little, unknown, enough };
  [[nodiscard]] room_left room_after(const changed& what, const got_through& with) const;
  [[nodiscard]] bool is_short(std::uint64_t reserved) const;
  // Capacities are told apart by that, a 64th of the peak.
  [[nodiscard]] std::uint64_t capacity_step() const;
  // Of a run that ran out, at the lowest addresses.
  [[nodiscard]] std::uint64_t least_memory(const changed& what,
                                           const allocator::outcome& without_limit) const;
  [[nodiscard]] std::optional<std::uint64_t> smallest(const changed& what, std::uint64_t most,
                                                      bool every_policy) const;
  [[nodiscard]] std::optional<std::uint64_t> smallest_with(
      const std::vector<const proposal*>& all) const;

  allocator::request_log until_refusal_;  // empty where memory did not run out
  std::optional<blocks::refused_run> refused_;
  const allocator::request_log* log_;
  allocator::scenario device_;  // as recorded
  allocator::scenario under_;   // the same, without limit where memory ran out
  allocator::range_of_outcomes before_;
  std::uint64_t reserved_before_ = 0;
  std::uint64_t allocated_before_ = 0;
};

}  // namespace memtrace::advice
