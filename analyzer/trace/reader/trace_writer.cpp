// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/trace_writer.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "analyzer/trace/reader/header.h"

namespace memtrace::trace {

namespace {

template <class T>
[[nodiscard]] std::span<const unsigned char> bytes_of(const T& object) {
  return {reinterpret_cast<const unsigned char*>(&object), sizeof(T)};
}

template <class T>
void seal(T& head) {
  constexpr auto covered = offsetof(T, header_checksum) + sizeof(head.header_checksum);
  const auto bytes = bytes_of(head).subspan(covered);
  head.header_checksum = format::fnv1a32(bytes.data(), bytes.size());
}

}  // namespace

std::optional<format::file_header> with_room(format::file_header header, std::size_t record_bytes) {
  constexpr std::uint64_t page = 4096;
  const auto wanted = std::max<std::uint64_t>(record_bytes, header.slot_record_capacity);
  const auto fixed = std::uint64_t{header.slot_time_capacity} + sizeof(format::slot_header);
  const auto slot = (wanted + fixed + page - 1) / page * page;
  if (slot > format::max_slot_bytes) return std::nullopt;
  header.slot_bytes = static_cast<std::uint32_t>(slot);
  header.slot_record_capacity = static_cast<std::uint32_t>(slot - fixed);
  header.header_checksum =
      format::fnv1a32(bytes_of(header).data(), offsetof(format::file_header, header_checksum));
  return header;
}

trace_writer::trace_writer(const format::file_header& header, output& to)
    : header_(header), to_(to), end_(first_block_offset(header)), compressor_(ZSTD_createCCtx()) {
  auto* const context = static_cast<ZSTD_CCtx*>(compressor_);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  failed_ = !to_.write(0, bytes_of(header_));
  // A reader expects the slots to be there, even where no block follows.
  const unsigned char last = 0;
  failed_ = failed_ || !to_.write(end_ - 1, {&last, 1});
}

trace_writer::~trace_writer() {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(compressor_));
}

std::size_t trace_writer::compress(std::size_t used, std::span<const unsigned char> from) {
  block_.resize(used + ZSTD_compressBound(from.size()));
  const auto size = ZSTD_compress2(static_cast<ZSTD_CCtx*>(compressor_), block_.data() + used,
                                   block_.size() - used, from.data(), from.size());
  if (ZSTD_isError(size) != 0) {
    failed_ = true;
    return 0;
  }
  return size;
}

void trace_writer::add(const section& part, std::span<const unsigned char> records) {
  format::block_header head{};
  const auto record_frame = compress(sizeof(head), records);
  const auto time_frame = compress(sizeof(head) + record_frame, part.times);
  head.magic = format::block_magic;
  head.sequence = sequence_ = part.sequence;
  head.base_ticks = part.base_ticks;
  head.base_monotonic_ns = part.base_monotonic_ns;
  head.first_event = part.first_event;
  head.record_bytes = static_cast<std::uint32_t>(records.size());
  head.time_bytes = static_cast<std::uint32_t>(part.times.size());
  head.stored_record_bytes = static_cast<std::uint32_t>(record_frame);
  head.stored_time_bytes = static_cast<std::uint32_t>(time_frame);
  seal(head);
  std::memcpy(block_.data(), &head, sizeof(head));
  append(std::span(block_).first(sizeof(head) + record_frame + time_frame));
}

// A slot without records whose number shows the gap.
void trace_writer::add_gap(std::uint64_t missing_blocks, std::uint64_t first_event) {
  format::slot_header slot{};
  slot.sequence = sequence_ + missing_blocks + 1;
  slot.base_monotonic_ns = header_.start_monotonic_ns;
  slot.first_event = first_event;
  failed_ = failed_ || !to_.write(slot_offset(header_, 0), bytes_of(slot));
}

// As a file that ends inside of a block.
void trace_writer::cut_off() {
  append(bytes_of(format::block_magic));
}

void trace_writer::end(const format::trailer& last) {
  append(bytes_of(last));
}

void trace_writer::seal_and_end(format::trailer last) {
  seal(last);
  end(last);
}

void trace_writer::append(std::span<const unsigned char> bytes) {
  failed_ = failed_ || !to_.write(end_, bytes);
  end_ += bytes.size();
}

}  // namespace memtrace::trace
