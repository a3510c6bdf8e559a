// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace while it is written: each poll hands on what is new, and in the end the visitor
// has got the records that reader::read of the finished file hands on, each once and in the same
// order.
//
//   slot  ├─ section 3, as far as committed ─►            the place: section 3, and how much of
//   block ├─ section 3, whole ─┤├─ section 4 ─┤           it was handed on. A block that was read
//                                                         as a slot is gone on with, or passed by
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/decoder.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/drop_recovery.h"
#include "analyzer/trace/reader/error.h"
#include "analyzer/trace/reader/reader.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

// The slots that a source gives.
enum class slots_are : std::uint8_t {
  current,  // what the recorder writes into; or nobody writes any more
  copies,   // which may be old
};

class following_reader {
 public:
  // Errors: those of reader::open. The source must outlive it.
  [[nodiscard]] static result<std::unique_ptr<following_reader>> open(byte_source& source);
  following_reader(const following_reader&) = delete;
  following_reader& operator=(const following_reader&) = delete;
  ~following_reader();

  // Hands what is new to the visitor, always the same one, from at most so many sections. True:
  // it stopped because of that.
  bool poll(record_visitor& visitor, std::size_t most = std::numeric_limits<std::size_t>::max(),
            slots_are how = slots_are::current);

  [[nodiscard]] const format::file_header& header() const { return header_; }
  [[nodiscard]] const dictionary& names() const { return names_; }
  // As of the latest poll: of a program that still runs, as if it had been killed then.
  [[nodiscard]] completeness facts() const;
  // Records that cannot have been written: nothing comes after them.
  [[nodiscard]] bool is_stuck() const { return damage_.has_value(); }
  [[nodiscard]] bool has_trailer() const { return trailer_.has_value(); }
  // The file has become shorter than what was read of it, or its first page is another trace's.
  [[nodiscard]] bool is_another() const { return is_another_; }
  [[nodiscard]] std::uint64_t bytes_read() const { return offset_; }

 private:
  enum class step { took, took_part, nothing };  // of a section
  enum class block_state { none, incomplete, corrupt, ready, passed };

  following_reader(byte_source& source, const format::file_header& header);
  void look_at_header();
  [[nodiscard]] step next();
  [[nodiscard]] block_state look_at_block(format::block_header& head);
  [[nodiscard]] bool take_block(const format::block_header& head);
  [[nodiscard]] step take_slot(bool& moved);
  [[nodiscard]] bool hand_on(const section& part);
  void end_section();
  [[nodiscard]] bool decompress(std::span<const unsigned char> stored, std::uint32_t expected,
                                std::vector<unsigned char>& out);
  void note(error_code code, const char* what);

  byte_source& source_;
  format::file_header header_;
  dictionary names_;
  std::optional<drop_recovery> mended_;
  std::optional<decoder> decoded_;
  void* decompressor_;  // ZSTD_DCtx

  std::uint64_t at_ = 1;            // sequence of the section that is next, or in part handed on
  std::uint32_t records_done_ = 0;  // bytes of it
  std::uint32_t times_done_ = 0;
  std::uint64_t offset_ = 0;  // of the next block
  std::uint64_t passed_ = 0;  // sequence of the block before it
  std::vector<unsigned char> stored_;
  std::vector<unsigned char> records_;
  std::vector<unsigned char> times_;

  std::optional<format::trailer> trailer_;
  status damage_;   // of records: nothing comes after it
  status failure_;  // of a block, as of the latest look: it may be half written
  bool is_another_ = false;
  slots_are slots_ = slots_are::current;
  std::uint64_t missing_blocks_ = 0;
  std::uint64_t events_before_gap_ = 0;
};

}  // namespace memtrace::trace
