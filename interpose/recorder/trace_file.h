// SPDX-License-Identifier: Apache-2.0
//
// The file of one process: created exclusively, header and slots allocated and mapped, blocks
// appended behind them.
//
// Why MAP_SHARED with the space allocated ahead: what is stored is the kernel's at once and
// survives any kind of death of the process; and a full disk is an error of fallocate or pwrite
// here, never a SIGBUS in the program. Why MADV_DONTFORK: a child must not write into its
// parent's trace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "interpose/recorder/block_writer.h"
#include "interpose/recorder/slot.h"
#include "interpose/recorder/tick_clock.h"

namespace memtrace {

struct trace_file_options {
  std::string directory;  // made if it is missing; empty: the working directory
  std::string program;    // base name; becomes part of the file's
  slot_shape shape;
};

class trace_file final : public block_sink {
 public:
  // Null on failure, with the errno value in `error`.
  [[nodiscard]] static std::unique_ptr<trace_file> create(const trace_file_options& options,
                                                          const tick_clock& clock, int& error);
  ~trace_file() override;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] slot slot_at(unsigned index) const noexcept;
  [[nodiscard]] int append(std::span<const unsigned char> bytes) noexcept override;

  // The clean end: the trailer, then the slots' space is given back.
  [[nodiscard]] int complete(std::uint64_t blocks, std::uint64_t events) noexcept;

  // These keep the counters in the file's header.
  void drop_events(std::uint64_t count) noexcept;
  [[nodiscard]] std::uint64_t dropped_events() const noexcept;
  void stop(format::drop_reason reason, int error) noexcept;

  // In a forked child: forget the parent's mapping and close its descriptor.
  void abandon() noexcept;

 private:
  trace_file(int file, std::string path, slot_shape shape) noexcept
      : file_(file), path_(std::move(path)), shape_(shape) {}
  [[nodiscard]] int map() noexcept;
  void write_header(const tick_clock& clock) noexcept;
  // The program may close every descriptor, and what it opens next may get our number.
  [[nodiscard]] bool is_this_file(int descriptor) const noexcept;
  [[nodiscard]] int ensure_descriptor() noexcept;
  void close_descriptor() noexcept;
  [[nodiscard]] std::uint64_t slots_end() const noexcept {
    return format::header_bytes + std::uint64_t{format::slot_count} * shape_.bytes();
  }

  int file_;
  dev_t device_ = 0;  // with the inode: which file it is
  ino_t inode_ = 0;
  std::string path_;
  slot_shape shape_;
  unsigned char* memory_ = nullptr;
  format::file_header* header_ = nullptr;
  std::uint64_t end_ = 0;  // of the last whole block
};

}  // namespace memtrace
