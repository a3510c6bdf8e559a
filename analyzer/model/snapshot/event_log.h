// SPDX-License-Identifier: Apache-2.0
//
// The events of a snapshot in the order of the file, each as a row of fixed size: written while the
// pickle is read, compressed into a spill_file, and read again from any row on.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/snapshot/spill_file.h"
#include "memtrace/trace_format.h"

namespace memtrace::snapshot {

struct event_row {
  std::uint64_t address = 0;  // of an oom: what the device had free
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  std::uint64_t time_us = 0;
  std::uint64_t pool_first = 0;
  std::uint64_t pool_second = 0;
  std::uint32_t stack = 0;
  std::uint32_t metadata = 0;  // text: what the program said of it
  format::kind kind{};
  bool has_pool = false;
  std::uint8_t unused[2] = {};
  std::uint32_t category = 0;  // text: of a snapshot that memtrace exported
};
static_assert(sizeof(event_row) == 64);

class event_log {
 public:
  event_log();
  ~event_log();
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;

  [[nodiscard]] bool add(const event_row& row);  // false: it cannot be written; errno says why
  [[nodiscard]] bool finish();                   // no more rows
  [[nodiscard]] std::uint64_t size() const { return rows_; }

  // Reads rows one after the other; several may read at once.
  class reader {
   public:
    reader(event_log& log, std::uint64_t first, std::uint64_t count);
    ~reader();
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;
    // Null at the end, or when failed().
    [[nodiscard]] const event_row* next();
    [[nodiscard]] bool failed() const { return failed_; }

   private:
    [[nodiscard]] bool load(std::uint64_t chunk);

    event_log& log_;
    std::uint64_t at_;
    std::uint64_t end_;
    std::uint64_t loaded_ = ~std::uint64_t{0};  // chunk
    std::vector<event_row> rows_;
    std::vector<unsigned char> stored_;
    void* decompressor_;  // ZSTD_DCtx
    bool failed_ = false;
  };

 private:
  static constexpr std::size_t chunk_rows = 4096;
  struct chunk {
    std::uint64_t offset = 0;
    std::uint32_t stored = 0;  // bytes
    std::uint32_t rows = 0;
  };

  [[nodiscard]] bool write_chunk();

  std::vector<event_row> filling_;
  std::vector<unsigned char> stored_;
  std::vector<chunk> chunks_;
  std::uint64_t rows_ = 0;
  std::uint64_t end_ = 0;  // of the file
  spill_file file_;
  void* compressor_;  // ZSTD_CCtx
};

}  // namespace memtrace::snapshot
