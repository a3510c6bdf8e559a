// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace of records that come from elsewhere than the recorder: an imported snapshot or
// profiler's trace.
// Times are microseconds since the trace's start; definitions are numbered as they come.
//
//   record_writer to(header_of(started_ns), file);
//   const auto file_name = to.text("train.py");
//   to.allocator(time_us, device, thread, event);
//   to.end();
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/trace/reader/decoder.h"
#include "analyzer/trace/reader/field_writer.h"
#include "analyzer/trace/reader/report_prediction.h"
#include "analyzer/trace/reader/trace_writer.h"

namespace memtrace::trace {

// The header of a trace that started then: nanoseconds since 1970, 0 where it is not known.
[[nodiscard]] format::file_header header_of(std::uint64_t started_ns);

class record_writer {
 public:
  record_writer(const format::file_header& header, output& to);

  // Definitions. Texts longer than a trace may have are cut.
  void info(std::string_view key, std::string_view value);
  text_id text(std::string_view words);
  frame_id frame(text_id file, text_id function, std::uint32_t line);
  stack_id stack(stack_id parent, frame_id innermost);
  thread_id thread(text_id name);
  void device(const device_facts& facts);

  // Events. A time before that of the event before it is taken as that.
  void allocator(std::uint64_t time_us, std::uint32_t device, thread_id thread,
                 const allocator_event& event);
  void reported(std::uint64_t time_us, std::uint32_t device, thread_id thread,
                const reported_event& event);
  void phase(std::uint64_t time_us, std::uint32_t device, const phase_event& event);
  void step(std::uint64_t time_us, std::uint32_t device, const step_event& event);
  void operation(std::uint64_t time_us, std::uint32_t device, thread_id thread,
                 const operation_event& event);
  void message(std::uint64_t time_us, std::uint64_t severity, std::string_view text);
  // Untimed, of the event before it on its device.
  void report(const report_event& event);
  void storage(const storage_event& event);

  void end();
  [[nodiscard]] bool failed() const { return writer_.failed(); }

 private:
  template <class Record>
  void put(format::kind what, unsigned flags, const Record& record);
  void put_time(std::uint64_t time_us);
  void be_in(std::uint32_t device, thread_id thread);
  void make_room();
  void finish_section();
  void begin_section();

  format::file_header header_;
  trace_writer writer_;
  std::vector<unsigned char> records_;
  std::vector<unsigned char> times_;
  std::vector<unsigned char> payload_;  // of a skippable record
  section part_;                        // that is being filled
  std::uint64_t events_ = 0;
  std::uint64_t now_us_ = 0;
  std::uint32_t texts_ = 0;
  std::uint32_t frames_ = 0;
  std::uint32_t stacks_ = 0;
  std::uint32_t threads_ = 0;
  // Context, which starts afresh with each section.
  std::uint64_t address_ = 0;
  std::uint64_t stream_ = 0;
  pool_id pool_;
  std::uint32_t device_ = 0;
  thread_id thread_;
  std::array<report_prediction, decoder::max_devices> predictions_{};
};

}  // namespace memtrace::trace
