// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/section.h"

#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "analyzer/trace/reader/header.h"

namespace memtrace::trace {

namespace {

void grow(std::vector<unsigned char>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

section_reader::section_reader(byte_source& source, const format::file_header& header)
    : source_(source),
      record_capacity_(header.slot_record_capacity),
      time_capacity_(header.slot_time_capacity),
      offset_(first_block_offset(header)),
      decompressor_(ZSTD_createDCtx()) {
  read_slots(header);
}

section_reader::~section_reader() {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(decompressor_));
}

// Slots first, blocks afterwards: a recorder that is still writing moves records from slots to
// blocks, never back, so in this order none can be missed.
void section_reader::read_slots(const format::file_header& header) {
  for (std::uint32_t i = 0; i < header.slot_count; ++i) {
    slot_copy slot;
    slot.offset = slot_offset(header, i);
    if (read_slot(slot, header)) slots_.push_back(std::move(slot));
  }
  std::ranges::sort(slots_, {}, [](const slot_copy& slot) { return slot.header.sequence; });
}

bool section_reader::read_slot(slot_copy& slot, const format::file_header& header) {
  // A second look at the sequence notices a slot that was reused while its bytes were read.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (source_.read(slot.offset, room_of(slot.header)) < sizeof(slot.header)) {
      cut_off_ = true;
      return false;
    }
    if (slot.header.sequence == 0) return false;
    slot.record_bytes = static_cast<std::uint32_t>(slot.header.committed);
    const auto time_bytes = static_cast<std::uint32_t>(slot.header.committed >> 32);
    if (slot.record_bytes > header.slot_record_capacity || time_bytes > header.slot_time_capacity) {
      failure_ = error{error_code::corrupt_slot, slot.offset,
                       fmt::format("is damaged at offset {}: a slot claims more than it can hold; "
                                   "copy it again from where it was recorded",
                                   slot.offset)};
      return false;
    }
    slot.bytes.resize(std::size_t{slot.record_bytes} + time_bytes);
    const auto bytes = std::as_writable_bytes(std::span(slot.bytes));
    const auto records = slot.offset + sizeof(slot.header);
    const auto times = records + header.slot_record_capacity;
    if (source_.read(records, bytes.first(slot.record_bytes)) < slot.record_bytes ||
        source_.read(times, bytes.subspan(slot.record_bytes)) < time_bytes) {
      cut_off_ = true;
      return false;
    }
    std::uint64_t sequence = 0;
    if (source_.read(slot.offset, room_of(sequence)) == sizeof(sequence) &&
        sequence == slot.header.sequence) {
      return true;
    }
  }
  return false;  // its records are in a block by now
}

std::optional<section> section_reader::next() {
  if (!blocks_done_) {
    if (auto block = next_block()) return block;
    blocks_done_ = true;
  }
  return next_slot();
}

std::optional<section> section_reader::next_block() {
  format::block_header head{};
  const auto count = source_.read(offset_, room_of(head));
  if (count == 0) return std::nullopt;
  if (count >= sizeof(head.magic) && head.magic == format::trailer_magic) {
    read_trailer();
    return std::nullopt;
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&head);
  const bool unwritten = std::all_of(bytes, bytes + count, [](auto b) { return b == 0; });
  if (count < sizeof(head) || unwritten) {
    stop_blocks(false, "");
    return std::nullopt;
  }
  if (!block_header_is_valid(head)) {
    stop_blocks(true, "a block's header does not match its checksum");
    return std::nullopt;
  }
  if (head.sequence != sequence_ + 1) {
    stop_blocks(true, "a block is out of order");
    return std::nullopt;
  }
  return block_at(head);
}

std::optional<section> section_reader::block_at(const format::block_header& head) {
  const auto stored = std::size_t{head.stored_record_bytes} + head.stored_time_bytes;
  grow(stored_, stored);
  const auto body = offset_ + sizeof(head);
  if (source_.read(body, std::as_writable_bytes(std::span(stored_).first(stored))) < stored) {
    stop_blocks(false, "");
    return std::nullopt;
  }
  const auto frames = std::span<const unsigned char>(stored_).first(stored);
  if (!decompress(frames.first(head.stored_record_bytes), head.record_bytes, records_) ||
      !decompress(frames.subspan(head.stored_record_bytes), head.time_bytes, times_)) {
    stop_blocks(true, "a block does not match its checksum");
    return std::nullopt;
  }
  section found{offset_,
                head.sequence,
                head.base_ticks,
                head.base_monotonic_ns,
                head.first_event,
                std::span(records_).first(head.record_bytes),
                std::span(times_).first(head.time_bytes)};
  offset_ = body + stored;
  sequence_ = head.sequence;
  return found;
}

bool section_reader::block_header_is_valid(const format::block_header& head) const {
  return head.magic == format::block_magic && head.header_checksum == checksum_after(head) &&
         head.record_bytes <= record_capacity_ && head.time_bytes <= time_capacity_ &&
         head.stored_record_bytes <= ZSTD_compressBound(record_capacity_) &&
         head.stored_time_bytes <= ZSTD_compressBound(time_capacity_);
}

bool section_reader::decompress(std::span<const unsigned char> stored, std::uint32_t expected,
                                std::vector<unsigned char>& out) {
  if (expected == 0 && stored.empty()) return true;
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != expected) return false;
  grow(out, expected);
  return ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(decompressor_), out.data(), expected,
                             stored.data(), stored.size()) == expected;
}

bool section_reader::slot_has(std::uint64_t sequence) const {
  return std::ranges::any_of(
      slots_, [&](const slot_copy& slot) { return slot.header.sequence == sequence; });
}

void section_reader::stop_blocks(bool corrupt, const char* what) {
  if (corrupt) {
    failure_ = error{error_code::corrupt_block, offset_,
                     fmt::format("is damaged at offset {}: {}; what precedes it is used, copy the "
                                 "trace again for the rest",
                                 offset_, what)};
  } else if (source_.read_error() != 0) {
    failure_ = error{error_code::io_error, offset_,
                     fmt::format("cannot be read at offset {}: {}; what precedes it is used",
                                 offset_, std::strerror(source_.read_error()))};
  } else if (!slot_has(sequence_ + 1)) {
    cut_off_ = true;
  }
}

void section_reader::read_trailer() {
  format::trailer found{};
  if (source_.read(offset_, room_of(found)) < sizeof(found)) {
    stop_blocks(false, "");
  } else if (found.header_checksum != checksum_after(found)) {
    stop_blocks(true, "the trailer does not match its checksum");
  } else {
    trailer_ = found;
  }
}

std::optional<section> section_reader::next_slot() {
  for (const auto& slot : slots_) {
    if (slot.header.sequence <= sequence_) continue;
    if (slot.header.sequence != sequence_ + 1) {
      missing_blocks_ = slot.header.sequence - sequence_ - 1;
      events_before_gap_ = slot.header.first_event;
      return std::nullopt;
    }
    sequence_ = slot.header.sequence;
    const std::span<const unsigned char> bytes(slot.bytes);
    return section{slot.offset,
                   slot.header.sequence,
                   slot.header.base_ticks,
                   slot.header.base_monotonic_ns,
                   slot.header.first_event,
                   bytes.first(slot.record_bytes),
                   bytes.subspan(slot.record_bytes)};
  }
  return std::nullopt;
}

}  // namespace memtrace::trace
