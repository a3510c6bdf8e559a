// SPDX-License-Identifier: Apache-2.0
//
// The two slots and who turns the full one into a block: a background thread, which alone asks the
// disk. An event waits for it only so long; then the caller drops events until a slot is free.
//
//   slot A   open ──full──► full ──► writing ──► empty ──► open …
//   slot B          empty ► open ……………………………………full ──► writing …
//
//   1. The event that does not fit makes sure that the other slot is empty, then marks its own full
//      and opens the other. So at most one slot is full or being written at any time, and blocks
//      are appended in order.
//   2. full → writing is a compare-and-swap: exactly one thread writes a block.
//   3. A block that cannot be appended leaves its slot full: its records stay readable there, and
//      it is tried again every second.
//   4. Between blocks the thread copies what the open slot has by now into the file (keep()).
//
// While no thread can be had, nothing is written before the end: events are dropped when both slots
// are full, and a thread is asked for again every second. advance() and finish() are called under
// the recorder's lock; the background thread takes none.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "interpose/ground/recorder/block_writer.h"
#include "interpose/ground/recorder/slot.h"

namespace memtrace {

class slot_pair {
 public:
  // `first` and `second` are mapped and empty. Without `background` the event threads write.
  slot_pair(slot first, slot second, block_sink& sink, bool background) noexcept
      : slots_{first, second}, sink_(sink), background_(background) {}
  ~slot_pair() { stop_thread(); }
  slot_pair(const slot_pair&) = delete;
  slot_pair& operator=(const slot_pair&) = delete;

  [[nodiscard]] slot& current() noexcept { return slots_[open_]; }

  // Makes the other slot current, ready for slot::open(). Returns 0, or why it is not free: the
  // errno value of its block, ETIMEDOUT, or EAGAIN without a thread; then nothing has changed.
  [[nodiscard]] int advance() noexcept;
  // Whether advance() is worth a try: it will not wait for the disk.
  [[nodiscard]] bool can_advance() const noexcept;

  // After the first slot::open(): from now on what it holds is copied to the file.
  void start() noexcept {
    if (background_) start_thread();
  }

  // Writes what is left in both slots, and then what tells a complete file, if it is one. Returns 0
  // or an errno value; what could not be written stays in its slot. ETIMEDOUT: the disk does not
  // answer, the thread goes on trying, and all of this must stay.
  [[nodiscard]] int finish(bool is_complete, std::uint64_t blocks, std::uint64_t events) noexcept;

 private:
  enum class stage : std::uint32_t { empty, open, full, writing };

  [[nodiscard]] std::atomic<std::uint32_t>& stage_of(unsigned index) noexcept {
    return stages_[index];
  }
  // By the calling thread, without a background.
  [[nodiscard]] int make_empty(unsigned index) noexcept;
  // By the background thread, for which it waits: as long as it computes, but not for the disk.
  [[nodiscard]] int await_empty(unsigned index) noexcept;
  [[nodiscard]] int free_other() noexcept;
  void earn_patience() noexcept;
  // For whoever moved the slot to `writing`.
  [[nodiscard]] int write_block(unsigned index) noexcept;
  void write_full() noexcept;
  void keep_open() noexcept;
  [[nodiscard]] int write_rest() noexcept;
  void wake_thread() noexcept;
  void start_thread() noexcept;
  void stop_thread() noexcept;
  static void* run_thread(void* self);
  void serve() noexcept;

  std::array<slot, format::slot_count> slots_;
  std::array<std::atomic<std::uint32_t>, format::slot_count> stages_{
      static_cast<std::uint32_t>(stage::open), static_cast<std::uint32_t>(stage::empty)};
  unsigned open_ = 0;
  block_sink& sink_;
  block_writer writer_;
  bool background_;
  bool thread_runs_ = false;
  pthread_t thread_{};
  static constexpr std::uint32_t untaken = 0, taken = 1, shared = 2;
  std::atomic<std::uint32_t> taken_{untaken};  // whether the thread has the sink's own for itself
  std::atomic<std::uint32_t> work_{0};         // counts requests; odd values are not special
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> asked_at_{0};  // the disk, by the thread; 0: it does not now
  std::atomic<int> error_{0};               // of the latest block that could not be written
  std::uint64_t retry_at_ns_ = 0;           // of whoever writes
  // How long events may still wait for the disk. It comes back by a little in all the time passed.
  std::uint64_t patience_ns_ = 0;
  std::uint64_t earned_at_ns_ = 0;
  // The end, which the thread brings about when `stop_` is set.
  bool is_complete_ = false;
  std::uint64_t blocks_ = 0;
  std::uint64_t events_ = 0;
  std::atomic<std::uint32_t> ended_{0};
  int end_error_ = 0;
};

}  // namespace memtrace
