// SPDX-License-Identifier: Apache-2.0
//
// The two slots and who turns the full one into a block: a background thread, or, when that is
// behind or cannot be had, the thread whose event needs the room. Nothing is lost in between.
//
//   slot A   open ──full──► full ──► writing ──► empty ──► open …
//   slot B          empty ► open ……………………………………full ──► writing …
//
//   1. The event that does not fit makes sure that the other slot is empty, writing or awaiting
//      its block if necessary, then marks its own full and opens the other. So at most one slot
//      is full or being written at any time, and blocks are appended in order.
//   2. full → writing is a compare-and-swap: exactly one thread writes a block.
//   3. A block that cannot be appended leaves its slot full: its records stay readable there. The
//      next event that needs the room tries once more, and if that fails recording stops.
//
// advance() and finish() are called under the recorder's lock; the background thread takes none.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "interpose/recorder/block_writer.h"
#include "interpose/recorder/slot.h"

namespace memtrace {

class slot_pair {
 public:
  // `first` and `second` are mapped and empty. Without `background` the event threads compress.
  slot_pair(slot first, slot second, block_sink& sink, bool background) noexcept
      : slots_{first, second}, writer_(sink), background_(background) {}
  ~slot_pair() { stop_thread(); }
  slot_pair(const slot_pair&) = delete;
  slot_pair& operator=(const slot_pair&) = delete;

  [[nodiscard]] slot& current() noexcept { return slots_[open_]; }

  // Makes the other slot current, ready for slot::open(). Returns 0, or the errno value of the
  // block that cannot be written; then nothing has changed.
  [[nodiscard]] int advance() noexcept;

  // Writes what is left in both slots. Returns 0 or an errno value; what could not be written
  // stays in its slot.
  [[nodiscard]] int finish() noexcept;

 private:
  enum class stage : std::uint32_t { empty, open, full, writing };

  [[nodiscard]] std::atomic<std::uint32_t>& stage_of(unsigned index) noexcept {
    return stages_[index];
  }
  [[nodiscard]] int make_empty(unsigned index) noexcept;
  // For whoever moved the slot to `writing`.
  [[nodiscard]] int write_block(unsigned index) noexcept;
  void wake_thread() noexcept;
  void start_thread() noexcept;
  void stop_thread() noexcept;
  static void* run_thread(void* self);
  void serve() noexcept;

  std::array<slot, format::slot_count> slots_;
  std::array<std::atomic<std::uint32_t>, format::slot_count> stages_{
      static_cast<std::uint32_t>(stage::open), static_cast<std::uint32_t>(stage::empty)};
  unsigned open_ = 0;
  block_writer writer_;
  bool background_;
  bool thread_runs_ = false;
  pthread_t thread_{};
  std::atomic<std::uint32_t> work_{0};  // counts requests; odd values are not special
  std::atomic<bool> stop_{false};
};

}  // namespace memtrace
