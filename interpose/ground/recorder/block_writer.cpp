// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/block_writer.h"

#include <zstd.h>

#include <cstring>
#include <new>

namespace memtrace {
namespace {

// Level 3 with the window over the whole slot: a training loop's records repeat step by step, and
// what matters is to find the previous step, not to search well.
constexpr int compression_level = 3;

}  // namespace

block_writer::~block_writer() {
  ZSTD_freeCCtx(context_);
}

bool block_writer::prepare(std::size_t bytes) noexcept {
  if (context_ == nullptr) {
    context_ = ZSTD_createCCtx();
    if (context_ == nullptr) return false;
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  if (buffer_.size() >= bytes) return true;
  try {
    buffer_.resize(bytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

std::size_t block_writer::compress(std::size_t used, std::span<const unsigned char> from) noexcept {
  const std::size_t size = ZSTD_compress2(context_, buffer_.data() + used, buffer_.size() - used,
                                          from.data(), from.size());
  return ZSTD_isError(size) != 0 ? 0 : size;
}

std::span<const unsigned char> block_writer::make(const slot& full) noexcept {
  const auto records = full.records();
  const auto times = full.times();
  if (!prepare(sizeof(format::block_header) + ZSTD_compressBound(records.size()) +
               ZSTD_compressBound(times.size()))) {
    return {};
  }
  const std::size_t record_frame = compress(sizeof(format::block_header), records);
  if (record_frame == 0) return {};
  const std::size_t time_frame = compress(sizeof(format::block_header) + record_frame, times);
  if (time_frame == 0) return {};

  format::block_header header{};
  header.magic = format::block_magic;
  header.sequence = full.header().sequence;
  header.base_ticks = full.header().base_ticks;
  header.base_monotonic_ns = full.header().base_monotonic_ns;
  header.first_event = full.header().first_event;
  header.record_bytes = static_cast<std::uint32_t>(records.size());
  header.time_bytes = static_cast<std::uint32_t>(times.size());
  header.stored_record_bytes = static_cast<std::uint32_t>(record_frame);
  header.stored_time_bytes = static_cast<std::uint32_t>(time_frame);
  constexpr std::size_t checked_from = offsetof(format::block_header, sequence);
  header.header_checksum = format::fnv1a32(
      reinterpret_cast<const unsigned char*>(&header) + checked_from, sizeof header - checked_from);
  std::memcpy(buffer_.data(), &header, sizeof header);
  return {buffer_.data(), sizeof header + record_frame + time_frame};
}

}  // namespace memtrace
