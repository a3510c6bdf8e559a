// SPDX-License-Identifier: Apache-2.0
//
// Writes the events of one process into one trace file, in one order.
//
//   event ─► lock ─► context, record, time ─► slot ─► committed ─► unlock       some 20 ns
//                                              └ full: slot_pair turns it into a block
//
// Any thread may call, from inside the CUDA allocator, at any time until the process is gone.
// Nothing throws, nothing calls CUDA, torch or Python. A signal handler that interrupts a call of
// the same thread and records loses its event, which is counted.
// Errors: while the disk is full, or does not take the records in time, events are not recorded but
// counted (a gap), and one sentence is said; recording goes on when the disk does. When the
// dictionary has no memory left, recording stops.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/recorder/dictionary.h"
#include "interpose/ground/recorder/events.h"
#include "interpose/ground/recorder/slot_pair.h"
#include "interpose/ground/recorder/source_list.h"
#include "interpose/ground/recorder/stack_table.h"
#include "interpose/ground/recorder/tick_clock.h"
#include "interpose/ground/recorder/trace_file.h"

namespace memtrace {

// Room for some 200,000 records: long enough that zstd finds the previous training step.
inline constexpr slot_shape default_shape{(1u << 20) - sizeof(format::slot_header), 256u << 10};

struct recorder_options {
  std::string directory;
  std::string program;
  slot_shape shape = default_shape;
  bool background = true;  // compress in a thread of our own
  void (*say)(std::string_view sentence) = nullptr;
};

struct recording_summary {
  bool complete = false;  // the trailer is written
  int error = 0;          // errno value of what stopped it
  std::uint64_t events = 0;
  std::uint64_t dropped_events = 0;
};

class recorder final : public stack_table {
 public:
  // Waits for the disk. Null on failure, with the errno value in `error`.
  [[nodiscard]] static std::unique_ptr<recorder> create(const recorder_options& options,
                                                        const tick_clock& clock, int& error);
  // Into a file that is there. Null without memory.
  [[nodiscard]] static std::unique_ptr<recorder> create(std::unique_ptr<trace_file> file,
                                                        const recorder_options& options,
                                                        const tick_clock& clock) noexcept;
  ~recorder() = default;

  void info(std::string_view key, std::string_view value) noexcept;
  void device(const device_facts& facts) noexcept;
  void allocator(const allocator_event& event) noexcept;
  void report(const usage_report& report) noexcept;
  // An allocation or a free request, the completion of that free if `completed`, and the report
  // that follows: what an allocator call usually consists of, in one step.
  void allocator_reported(const allocator_event& event, bool completed,
                          const usage_report& report) noexcept;
  // For a report whose allocation or free the tracker did not tell.
  void reported(const usage_report& report, const event_scope& where, stack_id stack) noexcept;
  void operation(const operation_event& event) noexcept;
  void cuda_call(const cuda_call_event& event) noexcept;
  void cuda_undo(const cuda_undo_event& event) noexcept;
  void message(bool data_is_missing, std::string_view text) noexcept;
  // So many events were not recorded since then, because the disk did not answer.
  void missed(std::uint64_t events, std::uint64_t since_ns) noexcept;

  // Meaning (recorder_meaning.cpp). Ids hold for this recorder only: keep them with generation().
  // 0 when nothing can be recorded.
  [[nodiscard]] std::uint32_t text_id(std::string_view text) noexcept;
  [[nodiscard]] std::uint32_t object_id(std::uint64_t address) noexcept;
  void module(const module_name& module) noexcept;
  // False when one was not recorded.
  bool storages(std::span<const storage_event> found) noexcept;
  // Unless the block at this address has been given this role before (told_storages.h).
  void storage_once(const storage_event& found) noexcept;
  void generated(const generated_line& told) noexcept;
  void saved(const saved_event& event) noexcept;
  void phase(const phase_event& event) noexcept;
  void step(const step_event& event) noexcept;
  void counter(std::string_view name, double value) noexcept;
  // Counters of one moment, of no thread, next to each other. Only where the open slot has room
  // for all: never writes a block, allocates nothing. False when they are not recorded.
  [[nodiscard]] bool samples(std::span<const counter_value> found) noexcept;
  // The same, unless `count` is no longer `expected` when the recorder is this thread's alone.
  [[nodiscard]] bool samples(std::span<const counter_value> found,
                             const std::atomic<std::uint64_t>& count,
                             std::uint64_t expected) noexcept;
  void census(const heap_scan_event& event) noexcept;
  // All of one moment.
  void lengths(std::span<const container_length> found) noexcept;
  void expectation(const expectation_event& said) noexcept;
  // Only where there is room without waiting for the disk. False when it is not recorded.
  [[nodiscard]] bool source(const source_part_event& part) noexcept;
  // The files whose text is wanted: listed by intern(), and by whoever names one elsewhere.
  [[nodiscard]] source_list& sources() noexcept { return sources_; }

  [[nodiscard]] stack_id intern(std::span<const stack_frame> innermost_first) noexcept override;
  // The same on top of a stack that is known.
  [[nodiscard]] stack_id intern_on(stack_id outer,
                                   std::span<const stack_frame> innermost_first) noexcept;

  // At exit; events after it are counted as dropped. Only the first call does anything.
  recording_summary finish() noexcept;
  // In a forked child, as the only call: this object is not used again, nor destroyed.
  void abandon() noexcept { file_->abandon(); }

  [[nodiscard]] const std::string& path() const noexcept { return file_->path(); }
  // By now, those after the end included.
  [[nodiscard]] std::uint64_t dropped_events() const noexcept { return file_->dropped_events(); }

 private:
  class scope;
  enum class state { recording, gap, stopped, finished };

  // Holds until changed, and starts afresh with every slot.
  struct slot_context {
    std::uint64_t address = 0;
    std::uint64_t stream = 0;
    pool_id pool;
    std::uint32_t device = 0;
    std::uint32_t thread = 0;
    std::uint64_t ticks = 0;
    event_scope scope;
  };
  // The figures that the next report of a device is expected to have. Starts afresh with every slot
  // too.
  struct expected_usage {
    std::uint64_t sequence = 0;  // of the slot
    std::uint64_t address = 0;
    std::int64_t block_bytes = 0;
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;
  };

  recorder(std::uint64_t serial, std::unique_ptr<trace_file> file, const recorder_options& options,
           const tick_clock& clock) noexcept;

  // Numbers a recorder, or a generation of its ids: none comes twice.
  [[nodiscard]] static std::uint64_t next_serial() noexcept;
  [[nodiscard]] bool make_room(std::size_t record_bytes) noexcept;
  void open_slot() noexcept;
  void stop(int error) noexcept;
  // recorder_gaps.cpp
  void begin_gap(int error) noexcept;
  [[nodiscard]] bool end_gap() noexcept;  // false: it goes on, or recording has ended
  void put_gap(std::uint64_t events, std::uint64_t since_ns, int error) noexcept;
  [[nodiscard]] std::uint32_t define_thread() noexcept;
  [[nodiscard]] std::uint32_t define_text(std::string_view text);
  // The records of an allocator event and of a report, into an open section.
  void put_allocator(scope& section, const allocator_event& event) noexcept;
  void put_completion(scope& section, const allocator_event& request) noexcept;
  void put_scope(scope& section, const event_scope& now) noexcept;
  void put_report(scope& section, expected_usage& next, const usage_report& report) noexcept;
  static void expect(expected_usage& next, const allocator_event& event) noexcept;
  [[nodiscard]] expected_usage& expected(std::uint32_t device) noexcept;

  small_lock lock_;
  state state_ = state::recording;
  tick_clock clock_;
  std::unique_ptr<trace_file> file_;
  slot_pair slots_;
  slot_context context_;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  int error_ = 0;
  std::uint64_t gap_began_ns_ = 0;
  std::uint64_t dropped_before_gap_ = 0;
  bool gap_told_ = false;
  std::uint32_t threads_ = 0;
  const std::uint64_t serial_;  // tells this recorder's thread ids from an earlier one's
  void (*say_)(std::string_view);
  dictionary dictionary_;
  source_list sources_;
  std::array<expected_usage, max_devices> expected_{};
};

}  // namespace memtrace
