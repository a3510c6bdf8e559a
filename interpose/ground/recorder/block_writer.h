// SPDX-License-Identifier: Apache-2.0
//
// Turns a full slot into a compressed block; and where blocks go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interpose/ground/recorder/slot.h"

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
  // Copies what a slot holds by now to where it survives what the slot's memory does not. While
  // others record into it, but do not empty it. Returns 0 or an errno value.
  [[nodiscard]] virtual int keep(unsigned /*index*/) noexcept { return 0; }
  [[nodiscard]] virtual bool is_kept_apart() const noexcept { return false; }
  // First thing of a thread that alone uses the sink from then on: takes what the sink needs out of
  // what all threads share. False: it goes on sharing.
  [[nodiscard]] virtual bool take_over() noexcept { return false; }
  // By the thread that used the sink before, after that.
  virtual void hand_over() noexcept {}
  // Everything is appended: the clean end.
  [[nodiscard]] virtual int complete(std::uint64_t /*blocks*/, std::uint64_t /*events*/) noexcept {
    return 0;
  }
  // The end, where not everything is appended: `error` says why; 0: it had been told before.
  virtual void give_up(int /*error*/) noexcept {}
};

// One user at a time.
class block_writer {
 public:
  block_writer() = default;
  block_writer(const block_writer&) = delete;
  block_writer& operator=(const block_writer&) = delete;
  ~block_writer();

  // The bytes of the block, valid until the next call; none when memory is short.
  [[nodiscard]] std::span<const unsigned char> make(const slot& full) noexcept;

 private:
  [[nodiscard]] bool prepare(std::size_t bytes) noexcept;
  // Appends one zstd frame to buffer_ at `used`; returns its size, 0 on failure.
  [[nodiscard]] std::size_t compress(std::size_t used,
                                     std::span<const unsigned char> from) noexcept;

  ZSTD_CCtx_s* context_ = nullptr;
  std::vector<unsigned char> buffer_;
};

}  // namespace memtrace
