// SPDX-License-Identifier: Apache-2.0
//
// A section is a run of records that is decoded as a whole: a block of the file, or a slot that
// did not become one. This file finds them in order, checks them, and holds one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/error.h"
#include "memtrace/trace_format.h"

namespace memtrace::trace {

struct section {
  std::uint64_t offset = 0;  // of the block or slot in the file
  std::uint64_t sequence = 0;
  std::uint64_t base_ticks = 0;
  std::uint64_t base_monotonic_ns = 0;
  std::uint64_t first_event = 0;
  std::span<const unsigned char> records;
  std::span<const unsigned char> times;
};

// Reads the sections of a checked header's file: blocks 1, 2, 3, …, then what the slots hold.
// Memory: the two slots, and one block, stored and decompressed (each at most max_slot_bytes).
class section_reader {
 public:
  section_reader(byte_source& source, const format::file_header& header);
  ~section_reader();
  section_reader(const section_reader&) = delete;
  section_reader& operator=(const section_reader&) = delete;

  // The next section, valid until the next call; nothing at the end, or when failure() says
  // what stopped the reading.
  [[nodiscard]] std::optional<section> next();

  [[nodiscard]] const status& failure() const { return failure_; }
  [[nodiscard]] const std::optional<format::trailer>& trailer() const { return trailer_; }
  // The file ends inside a block whose records are in no slot, or before its slots do.
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  // Blocks known to be missing because a slot has a later number, and the first event number of
  // that slot (events before it that were not read are missing).
  [[nodiscard]] std::uint64_t missing_blocks() const { return missing_blocks_; }
  [[nodiscard]] std::uint64_t events_before_gap() const { return events_before_gap_; }

 private:
  struct slot_copy {
    format::slot_header header{};
    std::vector<unsigned char> bytes;  // record area, then time area, as far as committed
    std::uint32_t record_bytes = 0;
    std::uint64_t offset = 0;
  };

  void read_slots(const format::file_header& header);
  [[nodiscard]] bool read_slot(slot_copy& slot, const format::file_header& header);
  [[nodiscard]] std::optional<section> next_block();
  [[nodiscard]] std::optional<section> block_at(const format::block_header& head);
  [[nodiscard]] std::optional<section> next_slot();
  [[nodiscard]] bool block_header_is_valid(const format::block_header& head) const;
  [[nodiscard]] bool decompress(std::span<const unsigned char> stored, std::uint32_t expected,
                                std::vector<unsigned char>& out);
  [[nodiscard]] bool slot_has(std::uint64_t sequence) const;
  void stop_blocks(bool corrupt, const char* what);
  void read_trailer();

  byte_source& source_;
  std::uint32_t record_capacity_;
  std::uint32_t time_capacity_;
  std::uint64_t offset_;
  std::uint64_t sequence_ = 0;  // of the latest section
  bool blocks_done_ = false;
  std::vector<slot_copy> slots_;  // ascending sequence
  std::vector<unsigned char> stored_;
  std::vector<unsigned char> records_;
  std::vector<unsigned char> times_;
  void* decompressor_;  // ZSTD_DCtx
  status failure_;
  std::optional<format::trailer> trailer_;
  bool cut_off_ = false;
  std::uint64_t missing_blocks_ = 0;
  std::uint64_t events_before_gap_ = 0;
};

}  // namespace memtrace::trace
