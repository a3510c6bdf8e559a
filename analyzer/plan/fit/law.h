// SPDX-License-Identifier: Apache-2.0
//
// What a program needs at any batch, learnt from dry runs at a few: by its requests, put into the
// allocator's model, where those of two batches can be laid side by side (align.h); else by the
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

enum class law_kind : std::uint8_t {
  none,        // fewer than two batches are known
  requests,    // aligned request by request
  capacities,  // the smallest capacity of each batch
};
[[nodiscard]] const char* name_of(law_kind kind);

class law {
 public:
  // Of a run that did not run out of memory; others are passed over.
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
  // What a batch needs for its bytes alone, wherever they lie.
  [[nodiscard]] bool has_room(std::uint64_t batch, std::uint64_t total_bytes) const;

  std::map<std::uint64_t, point> points_;  // by batch
};

}  // namespace memtrace::fit
