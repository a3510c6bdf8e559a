// SPDX-License-Identifier: Apache-2.0
//
// Turns a full slot into a compressed block and hands it to where blocks are appended.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interpose/recorder/slot.h"

struct ZSTD_CCtx_s;

namespace memtrace {

// Where blocks go: the trace file, or a test.
class block_sink {
 public:
  block_sink() = default;
  block_sink(const block_sink&) = delete;
  block_sink& operator=(const block_sink&) = delete;
  virtual ~block_sink() = default;

  // All bytes or none: after an error the sink is as it was before. Returns 0 or an errno value.
  [[nodiscard]] virtual int append(std::span<const unsigned char> bytes) noexcept = 0;
};

// One user at a time.
class block_writer {
 public:
  explicit block_writer(block_sink& sink) noexcept : sink_(sink) {}
  block_writer(const block_writer&) = delete;
  block_writer& operator=(const block_writer&) = delete;
  ~block_writer();

  // Returns 0, or an errno value: ENOMEM, or what the sink said.
  [[nodiscard]] int write(const slot& full) noexcept;

 private:
  [[nodiscard]] bool prepare(std::size_t bytes) noexcept;
  // Appends one zstd frame to buffer_ at `used`; returns its size, 0 on failure.
  [[nodiscard]] std::size_t compress(std::size_t used,
                                     std::span<const unsigned char> from) noexcept;

  block_sink& sink_;
  ZSTD_CCtx_s* context_ = nullptr;
  std::vector<unsigned char> buffer_;
};

}  // namespace memtrace
