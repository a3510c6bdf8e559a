// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/event_log.h"

#include <zstd.h>

#include <span>

namespace memtrace::snapshot {

namespace {

constexpr int fastest = 1;

[[nodiscard]] std::span<const unsigned char> bytes_of(const std::vector<event_row>& rows) {
  return {reinterpret_cast<const unsigned char*>(rows.data()), rows.size() * sizeof(event_row)};
}

}  // namespace

event_log::event_log() : compressor_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(static_cast<ZSTD_CCtx*>(compressor_), ZSTD_c_compressionLevel, fastest);
}

event_log::~event_log() {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(compressor_));
}

bool event_log::write_chunk() {
  const auto from = bytes_of(filling_);
  stored_.resize(ZSTD_compressBound(from.size()));
  const auto size = ZSTD_compress2(static_cast<ZSTD_CCtx*>(compressor_), stored_.data(),
                                   stored_.size(), from.data(), from.size());
  if (ZSTD_isError(size) != 0) return false;
  chunks_.push_back(
      {end_, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(filling_.size())});
  filling_.clear();
  const bool written = file_.write(end_, std::span(stored_).first(size));
  end_ += size;
  return written;
}

bool event_log::add(const event_row& row) {
  filling_.push_back(row);
  ++rows_;
  return filling_.size() < chunk_rows || write_chunk();
}

bool event_log::finish() {
  return filling_.empty() || write_chunk();
}

event_log::reader::reader(event_log& log, std::uint64_t first, std::uint64_t count)
    : log_(log), at_(first), end_(first + count), decompressor_(ZSTD_createDCtx()) {}

event_log::reader::~reader() {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(decompressor_));
}

bool event_log::reader::load(std::uint64_t number) {
  if (number >= log_.chunks_.size()) return false;
  const auto& wanted = log_.chunks_[number];
  stored_.resize(wanted.stored);
  rows_.resize(wanted.rows);
  if (log_.file_.read(wanted.offset, std::as_writable_bytes(std::span(stored_))) !=
      stored_.size()) {
    return false;
  }
  const auto bytes = rows_.size() * sizeof(event_row);
  loaded_ = number;
  return ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(decompressor_), rows_.data(), bytes,
                             stored_.data(), stored_.size()) == bytes;
}

const event_row* event_log::reader::next() {
  if (at_ == end_ || failed_) return nullptr;
  const auto number = at_ / chunk_rows;
  if (number != loaded_ && !load(number)) {
    failed_ = true;
    return nullptr;
  }
  return &rows_[at_++ % chunk_rows];
}

}  // namespace memtrace::snapshot
