// SPDX-License-Identifier: Apache-2.0
//
// Pinned host memory when there was most of it, and how much of it is rounding. PyTorch's
// CachingHostAllocator asks CUDA for the next power of two of each tensor and keeps what it got;
// what the tensor needs is not in any call. Copies to the device tell of it, where buffers are
// what was copied.
//
// Source: CachingHostAllocatorImpl::allocate (PowerOf2Ceil), ATen/core/CachingHostAllocator.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/replay/driver_memory.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::fragmentation {

// Copies from the host, by the power of two that a pinned buffer for each would have.
class host_copies final : public trace::record_visitor {
 public:
  void on_storage(const trace::event& next, const trace::storage_event& told) override;
  // The largest that such a buffer was needed for; 0: none.
  [[nodiscard]] std::uint64_t largest_for(std::uint64_t buffer_bytes) const;

 private:
  std::array<std::uint64_t, 64> largest_{};  // by log2 of the buffer
};

struct pinned_site {
  std::vector<code::source_frame> frames;
  std::uint64_t bytes = 0;
  std::uint64_t buffers = 0;
};

struct pinned_host {
  std::uint64_t peak = 0;  // bytes at once
  std::uint64_t buffers = 0;
  std::uint64_t powers_of_two = 0;  // bytes of buffers of such a size: PyTorch's own
  // At most so much of these is rounding: a tensor needs more than half of its buffer.
  std::uint64_t rounding_at_most = 0;
  // If each buffer holds the largest copy that it can have been made for; empty: no copies that
  // would need such buffers.
  std::optional<std::uint64_t> rounding_estimated;
  std::vector<pinned_site> sites;  // most bytes first, at most 16
};

[[nodiscard]] pinned_host look_at_pinned(const replay::driver_memory& driver,
                                         const trace::dictionary& names, const host_copies& copies);

}  // namespace memtrace::fragmentation
