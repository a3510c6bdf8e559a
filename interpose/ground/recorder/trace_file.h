// SPDX-License-Identifier: Apache-2.0
//
// The file of one process: created exclusively, space for header and slots allocated, blocks
// appended behind them. Header and slots themselves are in memory (head_memory.h) and copied into
// the file now and then.
//
// Whatever asks the disk may wait for ever: nobody calls it who must not. A file_creation makes a
// file without that anybody need wait. Why the space is allocated ahead: what is in the slots still
// fits when the disk is full.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "interpose/ground/recorder/block_writer.h"
#include "interpose/ground/recorder/head_memory.h"
#include "interpose/ground/recorder/slot.h"
#include "interpose/ground/recorder/tick_clock.h"

namespace memtrace {

struct trace_file_options {
  std::string directory;  // made if it is missing; empty: the working directory
  std::string program;    // base name; becomes part of the file's
  slot_shape shape;
};

class trace_file final : public block_sink {
 public:
  ~trace_file() override;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] slot slot_at(unsigned index) const noexcept;

  [[nodiscard]] int append(std::span<const unsigned char> bytes) noexcept override;
  [[nodiscard]] int keep(unsigned index) noexcept override;
  [[nodiscard]] bool is_kept_apart() const noexcept override {
    return head_.home() != head_home::in_trace;
  }
  // From then on the program has as many descriptors as without us, and the numbers that it
  // expects.
  [[nodiscard]] bool take_over() noexcept override;
  void hand_over() noexcept override;
  // The trailer; then the slots' space and the file in /dev/shm are given back.
  [[nodiscard]] int complete(std::uint64_t blocks, std::uint64_t events) noexcept override;

  void give_up(int error) noexcept override;

  // These keep the counters in the header, in memory.
  void drop_events(std::uint64_t count) noexcept;
  [[nodiscard]] std::uint64_t dropped_events() const noexcept;
  void tell_why(int error) noexcept;
  void stop(int error) noexcept;  // for good

  // In a forked child: forget the parent's memory and close its descriptor.
  void abandon() noexcept;

 private:
  friend class file_creation;
  // The part of a slot that the file has.
  struct kept_part {
    std::uint64_t sequence = 0;
    std::uint32_t record_bytes = 0;
    std::uint32_t time_bytes = 0;
    std::uint64_t committed = 0;  // as the slot's header says in the file
  };

  trace_file(int file, std::string path, slot_shape shape) noexcept
      : file_(file), path_(std::move(path)), shape_(shape) {}
  [[nodiscard]] static std::unique_ptr<trace_file> create_now(const trace_file_options& options,
                                                              const tick_clock& clock, int& error);
  void discard() noexcept;  // nobody wants it any more
  [[nodiscard]] int allocate() noexcept;
  void make_header(const tick_clock& clock) noexcept;
  [[nodiscard]] int keep_header() noexcept;
  // Writing beyond this limit raises SIGXFSZ, which kills a program that does not expect it.
  [[nodiscard]] static bool exceeds_size_limit(std::uint64_t end) noexcept;
  [[nodiscard]] int write_at(std::uint64_t offset, std::span<const unsigned char> bytes) noexcept;
  // The program may close every descriptor, and what it opens next may get our number.
  [[nodiscard]] bool is_this_file(int descriptor) const noexcept;
  [[nodiscard]] int ensure_descriptor() noexcept;
  void close_descriptor() noexcept;
  [[nodiscard]] std::uint64_t slot_offset(unsigned index) const noexcept {
    return format::header_bytes + std::uint64_t{index} * shape_.bytes();
  }
  [[nodiscard]] std::uint64_t slots_end() const noexcept { return slot_offset(format::slot_count); }

  int file_;
  dev_t device_ = 0;  // with the inode: which file it is
  ino_t inode_ = 0;
  std::string path_;
  slot_shape shape_;
  head_memory head_;
  format::file_header* header_ = nullptr;
  std::array<kept_part, format::slot_count> kept_{};
  std::array<unsigned char, format::shared_head_offset + format::shared_name_bytes> kept_header_{};
  std::uint64_t end_ = 0;  // of the last whole block
};

// A file on its way: a thread makes it, since the disk may not answer. Where no thread can be had,
// begin() makes it.
class file_creation {
 public:
  // Null without memory.
  [[nodiscard]] static std::unique_ptr<file_creation> begin(const trace_file_options& options,
                                                            const tick_clock& clock) noexcept;
  // A file that nobody has taken is removed, once the disk answers.
  ~file_creation();
  file_creation(const file_creation&) = delete;
  file_creation& operator=(const file_creation&) = delete;

  [[nodiscard]] const tick_clock& clock() const noexcept;
  // Waits so long at most.
  [[nodiscard]] bool is_done(std::uint32_t patience_ms) const noexcept;
  // Once it is done, the first time. Null on failure, with the errno value in `error`.
  [[nodiscard]] std::unique_ptr<trace_file> take(int& error) noexcept;

 private:
  struct work;
  explicit file_creation(work* shared) noexcept : work_(shared) {}

  work* const work_;
};

}  // namespace memtrace
