// SPDX-License-Identifier: Apache-2.0
//
// The fields of a `report` record that the format leaves out because they can be predicted from
// the records before it (see report_* in trace_format.h). One object a device and section.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

class report_prediction {
 public:
  void see(const allocator_event& record) {
    switch (record.kind) {
      case format::kind::alloc:
        latest(record.address, rounded(record.size));
        break;
      case format::kind::free_requested:
        latest(record.address, ~rounded(record.size) + 1);
        break;
      case format::kind::segment_alloc:
      case format::kind::segment_map:
        reserved_ += record.size;
        break;
      case format::kind::segment_free:
      case format::kind::segment_unmap:
        reserved_ -= record.size;
        break;
      default:
        break;
    }
  }

  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::uint64_t block_bytes() const { return block_bytes_; }  // two's complement
  [[nodiscard]] std::uint64_t allocated(std::uint64_t block) const { return allocated_ + block; }
  [[nodiscard]] std::uint64_t reserved() const { return reserved_; }

  void settle(std::uint64_t allocated, std::uint64_t reserved) {
    allocated_ = allocated;
    reserved_ = reserved;
  }

 private:
  [[nodiscard]] static std::uint64_t rounded(std::uint64_t size) {
    return std::max<std::uint64_t>((size + 511) / 512 * 512, 512);
  }
  void latest(std::uint64_t address, std::uint64_t block) {
    address_ = address;
    block_bytes_ = block;
  }

  std::uint64_t address_ = 0;
  std::uint64_t block_bytes_ = 0;
  std::uint64_t allocated_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace memtrace::trace
