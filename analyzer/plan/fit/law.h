// SPDX-License-Identifier: Apache-2.0
//
// The memory that a program needs at any batch, learnt from dry runs at a few: by its requests, put
// into the allocator's model, where those of two batches can be laid side by side; else by the
// smallest capacity that each measured batch fits into, on the line between the nearest two.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/model/allocator/request_log.h"
#include "analyzer/model/allocator/what_if.h"
#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

// The requests of the same program at two batches, side by side: the k-th allocation of one is the
// k-th of the other where both ask on the same stream and for the same pool, all the way. Then a
// size is taken to be affine in the batch,
//
//   size(b) = size(b0) + (size(b1) - size(b0)) · (b - b0) / (b1 - b0)
//
// and the requests of any other batch follow from the two.

// Allocations of the shorter log, where the logs are alike up to there; empty: they are not. Alike:
// the same streams and pools; where no steps are known (device_use::step_ends), as many
// allocations in all, else at most twice as many.
[[nodiscard]] std::optional<std::size_t> common_allocations(
    const allocator::request_log& one, const allocator::request_log& other,
    const std::vector<std::size_t>& step_ends, const std::vector<std::size_t>& other_step_ends);

// Every size is the same, as far as both logs go.
[[nodiscard]] bool ask_the_same(const allocator::request_log& one,
                                const allocator::request_log& other);

// The first `allocations` of `skeleton`, and what was asked for between them, with sizes of batch
// `wanted` instead of those of `skeleton_batch`. Nothing of it is said to have been recorded.
[[nodiscard]] allocator::request_log requests_at(const allocator::request_log& skeleton,
                                                 std::uint64_t skeleton_batch,
                                                 const allocator::request_log& other,
                                                 std::uint64_t other_batch, std::size_t allocations,
                                                 std::uint64_t wanted);

enum class law_kind : std::uint8_t {
  none,        // fewer than two batches are known
  requests,    // aligned request by request
  capacities,  // the smallest capacity of each batch
};
[[nodiscard]] const char* name_of(law_kind kind);

class law {
 public:
  // Learns from a run that did not run out of memory; others are passed over.
  void add(const probe& ran);
  [[nodiscard]] std::size_t points() const { return points_.size(); }
  [[nodiscard]] law_kind kind() const;

  // Whether a batch fits a device with so much memory in all. What is outside of the allocator
  // (context, libraries) is taken to be what it was in the runs. Empty: no law.
  [[nodiscard]] std::optional<bool> fits(std::uint64_t batch, std::uint64_t total_bytes) const;
  // The most that is in use at once at that batch, on the fullest device, where it never runs out;
  // 0: no law.
  [[nodiscard]] std::uint64_t allocated_at(std::uint64_t batch) const;

  // The largest of least, least + step, … up to `most` that fits; 0: none of them. Looks at every
  // one between what cannot fit for its bytes alone and the answer, as long as these are not too
  // many: fit is not monotone.
  [[nodiscard]] std::optional<std::uint64_t> largest(std::uint64_t total_bytes, std::uint64_t least,
                                                     std::uint64_t most, std::uint64_t step) const;

  // In use at once at that batch, and at half of it, as constant + per_item · batch; empty: no law.
  struct line {
    double constant = 0;
    double per_item = 0;
  };
  [[nodiscard]] std::optional<line> line_near(std::uint64_t batch) const;

 private:
  using logs = std::vector<std::shared_ptr<const allocator::request_log>>;  // by process, device
  struct point {
    logs asked;
    std::vector<std::vector<std::size_t>> step_ends;  // by log
    mutable std::optional<std::uint64_t> need;        // smallest total of a device that fits
  };
  struct neighbours {
    std::map<std::uint64_t, point>::const_iterator below, above;
  };
  [[nodiscard]] std::optional<neighbours> around(std::uint64_t batch) const;
  [[nodiscard]] std::vector<std::size_t> shared(const neighbours& two) const;
  [[nodiscard]] std::vector<allocator::request_log> made_at(std::uint64_t batch,
                                                            const neighbours& two,
                                                            const std::vector<std::size_t>&) const;
  [[nodiscard]] std::uint64_t need_of(const point& one) const;
  [[nodiscard]] double need_at(std::uint64_t batch, const neighbours& two) const;
  // Whether a batch has room for its bytes alone, wherever they lie.
  [[nodiscard]] bool has_room(std::uint64_t batch, std::uint64_t total_bytes) const;

  std::map<std::uint64_t, point> points_;  // by batch
};

// The laws of one program at one length, by compute capability: kernels are chosen by it, and with
// them what a program asks for. As long as nothing speaks against it, one law serves all GPUs.
class laws {
 public:
  // The law for GPUs of that capability: their own where there is one, else the first learnt.
  [[nodiscard]] const law& of(int capability) const {
    const auto own = by_capability_.find(capability);
    if (own != by_capability_.end()) return own->second;
    return first_ ? by_capability_.at(*first_) : none_;
  }
  [[nodiscard]] bool has_own(int capability) const { return by_capability_.contains(capability); }
  [[nodiscard]] bool empty() const { return by_capability_.empty(); }
  [[nodiscard]] law& own(int capability) {
    if (!first_) first_ = capability;
    return by_capability_[capability];
  }

 private:
  std::map<int, law> by_capability_;
  std::optional<int> first_;
  law none_;
};

}  // namespace memtrace::fit
