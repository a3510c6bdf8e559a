// SPDX-License-Identifier: Apache-2.0
//
// One of the two mapped windows of the trace that records are appended to (see trace_format.h).
// A process killed between two instructions leaves a slot that is valid up to `committed`: the
// bytes are stored first, then that one word.
//
// Not synchronised: the caller holds the recorder's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "memtrace/trace_format.h"

namespace memtrace {

// The sizes that all slots of a file have in common, in bytes.
struct slot_shape {
  std::uint32_t record_capacity = 0;
  std::uint32_t time_capacity = 0;

  [[nodiscard]] constexpr std::uint32_t bytes() const noexcept {
    return static_cast<std::uint32_t>(sizeof(format::slot_header)) + record_capacity +
           time_capacity;
  }
};

class slot {
 public:
  slot() = default;
  slot(unsigned char* memory, slot_shape shape) noexcept
      : header_(reinterpret_cast<format::slot_header*>(memory)),
        records_(memory + sizeof(format::slot_header)),
        times_(records_ + shape.record_capacity),
        shape_(shape) {}

  // Starts an empty slot. The sequence is stored last: until then a reader sees it as unused.
  void open(std::uint64_t sequence, std::uint64_t base_ticks, std::uint64_t base_monotonic_ns,
            std::uint64_t first_event) noexcept {
    record_used_ = time_used_ = 0;
    std::atomic_ref(header_->committed).store(0, std::memory_order_relaxed);
    header_->base_ticks = base_ticks;
    header_->base_monotonic_ns = base_monotonic_ns;
    header_->first_event = first_event;
    std::atomic_ref(header_->sequence).store(sequence, std::memory_order_release);
  }

  // After its block is in the file.
  void reset() noexcept { std::atomic_ref(header_->sequence).store(0, std::memory_order_release); }

  [[nodiscard]] bool has_room(std::uint32_t record_bytes, std::uint32_t time_bytes) const noexcept {
    return record_used_ + record_bytes <= shape_.record_capacity &&
           time_used_ + time_bytes <= shape_.time_capacity;
  }
  [[nodiscard]] bool is_empty() const noexcept { return record_used_ == 0; }

  // Where the next record and the next time go.
  [[nodiscard]] unsigned char* record_end() const noexcept { return records_ + record_used_; }
  [[nodiscard]] unsigned char* time_end() const noexcept { return times_ + time_used_; }

  // Makes everything before the two positions part of the trace.
  void commit(const unsigned char* record_end, const unsigned char* time_end) noexcept {
    record_used_ = static_cast<std::uint32_t>(record_end - records_);
    time_used_ = static_cast<std::uint32_t>(time_end - times_);
    std::atomic_ref(header_->committed)
        .store(record_used_ | std::uint64_t{time_used_} << 32, std::memory_order_release);
  }

  [[nodiscard]] const format::slot_header& header() const noexcept { return *header_; }
  [[nodiscard]] std::span<const unsigned char> records() const noexcept {
    return {records_, record_used_};
  }
  [[nodiscard]] std::span<const unsigned char> times() const noexcept {
    return {times_, time_used_};
  }

 private:
  format::slot_header* header_ = nullptr;
  unsigned char* records_ = nullptr;
  unsigned char* times_ = nullptr;
  slot_shape shape_;
  std::uint32_t record_used_ = 0;
  std::uint32_t time_used_ = 0;
};

}  // namespace memtrace
