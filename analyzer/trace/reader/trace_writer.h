// SPDX-License-Identifier: Apache-2.0
//
// Writes sections as a trace file: a header, empty slots, and a block for each section.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/trace/reader/section.h"
#include "memtrace/trace_format.h"

namespace memtrace::trace {

class output {
 public:
  virtual ~output() = default;
  // Bytes between the writes read as zeros. False: it cannot be written; errno says why.
  [[nodiscard]] virtual bool write(std::uint64_t offset, std::span<const unsigned char> bytes) = 0;
};

// The header with room in its slots for sections of this many bytes of records; nothing if a
// reader would refuse such a trace.
[[nodiscard]] std::optional<format::file_header> with_room(format::file_header header,
                                                           std::size_t record_bytes);

class trace_writer {
 public:
  trace_writer(const format::file_header& header, output& to);
  ~trace_writer();
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  // `records` instead of the section's own.
  void add(const section& part, std::span<const unsigned char> records);
  // Makes this file lack what the original one lacks.
  void add_gap(std::uint64_t missing_blocks, std::uint64_t first_event);
  void cut_off();
  void end(const format::trailer& last);
  // The same of a trailer whose checksum is not yet there.
  void seal_and_end(format::trailer last);

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void append(std::span<const unsigned char> bytes);
  [[nodiscard]] std::size_t compress(std::size_t used, std::span<const unsigned char> from);

  format::file_header header_;
  output& to_;
  std::uint64_t end_ = 0;
  std::uint64_t sequence_ = 0;
  std::vector<unsigned char> block_;
  void* compressor_;  // ZSTD_CCtx
  bool failed_ = false;
};

}  // namespace memtrace::trace
