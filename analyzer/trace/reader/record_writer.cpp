// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/record_writer.h"

#include <algorithm>
#include <cstring>

namespace memtrace::trace {

namespace {

constexpr std::size_t section_records = 512u << 10;  // bytes
constexpr std::uint32_t section_times = 128u << 10;
constexpr std::size_t longest_time = 10;
constexpr std::uint64_t ns_per_us = 1000;

[[nodiscard]] std::string_view cut(std::string_view text) {
  return text.substr(0, format::max_text_bytes);
}

}  // namespace

format::file_header header_of(std::uint64_t started_ns) {
  format::file_header header{};
  std::memcpy(header.magic, format::file_magic, sizeof(header.magic));
  header.version = format::version;
  header.header_bytes = format::header_bytes;
  header.slot_count = format::slot_count;
  header.slot_time_capacity = section_times;
  header.start_realtime_ns = started_ns;
  header.start_monotonic_ns = 1;
  header.ns_per_tick = ns_per_us;
  header.state = static_cast<std::uint32_t>(format::file_state::complete);
  return with_room(header, section_records).value_or(header);
}

record_writer::record_writer(const format::file_header& header, output& to)
    : header_(header), writer_(header, to) {
  begin_section();
}

void record_writer::begin_section() {
  records_.clear();
  times_.clear();
  ++part_.sequence;
  part_.base_ticks = now_us_;
  part_.base_monotonic_ns = header_.start_monotonic_ns + now_us_ * ns_per_us;
  part_.first_event = events_;
  address_ = stream_ = 0;
  pool_ = {};
  device_ = 0;
  thread_ = {};
  predictions_ = {};
}

void record_writer::finish_section() {
  part_.times = times_;
  writer_.add(part_, records_);
  begin_section();
}

void record_writer::make_room() {
  const bool full =
      records_.size() + 2 * std::size_t{format::max_record_bytes} > header_.slot_record_capacity ||
      times_.size() + longest_time > header_.slot_time_capacity;
  if (full) finish_section();
}

template <class Record>
void record_writer::put(format::kind what, unsigned flags, const Record& record) {
  records_.push_back(
      static_cast<unsigned char>(static_cast<unsigned>(what) | flags << format::kind_bits));
  if (!format::is_skippable(what)) {
    field_writer fields(records_, address_, flags);
    Record::fields(fields, record);
    return;
  }
  payload_.clear();
  field_writer fields(payload_, address_, flags);
  Record::fields(fields, record);
  field_writer(records_, address_, flags).put(payload_.size());
  records_.insert(records_.end(), payload_.begin(), payload_.end());
}

void record_writer::put_time(std::uint64_t time_us) {
  const auto later = std::max(time_us, now_us_) - now_us_;
  now_us_ += later;
  ++events_;
  field_writer(times_, address_, 0).put(later);
}

void record_writer::be_in(std::uint32_t device, thread_id thread) {
  if (device == device_ && thread == thread_) return;
  device_ = device;
  thread_ = thread;
  put(format::kind::context, 0, record::context<ids>{device, thread});
}

void record_writer::info(std::string_view key, std::string_view value) {
  make_room();
  put(format::kind::info, 0, record::info<ids>{cut(key), cut(value)});
}

text_id record_writer::text(std::string_view words) {
  make_room();
  put(format::kind::text, 0, record::text<ids>{cut(words)});
  return {++texts_};
}

frame_id record_writer::frame(text_id file, text_id function, std::uint32_t line) {
  make_room();
  put(format::kind::frame, 0, record::frame<ids>{file, function, line});
  return {++frames_};
}

stack_id record_writer::stack(stack_id parent, frame_id innermost) {
  make_room();
  put(format::kind::stack, 0, record::stack<ids>{parent, innermost});
  return {++stacks_};
}

thread_id record_writer::thread(text_id name) {
  make_room();
  put(format::kind::thread, 0, record::thread<ids>{threads_ + 1, name});
  return {++threads_};
}

void record_writer::device(const device_facts& facts) {
  make_room();
  put(format::kind::device, 0, facts);
}

void record_writer::allocator(std::uint64_t time_us, std::uint32_t device, thread_id thread,
                              const allocator_event& event) {
  make_room();
  be_in(device, thread);
  put_time(time_us);
  if (event.kind == format::kind::snapshot) {
    put(event.kind, 0, record::snapshot<ids>{});
    return;
  }
  const unsigned flags = (event.stream != stream_ ? format::flag_stream : 0u) |
                         (event.pool == pool_ ? 0u : format::flag_pool);
  stream_ = event.stream;
  pool_ = event.pool;
  put(event.kind, flags, event);
  predictions_[device].see(event);
}

void record_writer::reported(std::uint64_t time_us, std::uint32_t device, thread_id thread,
                             const reported_event& event) {
  make_room();
  be_in(device, thread);
  put_time(time_us);
  put(event.is_alloc ? format::kind::reported_alloc : format::kind::reported_free, 0, event);
}

void record_writer::report(const report_event& event) {
  auto& predicted = predictions_[event.device];
  const auto block = static_cast<std::uint64_t>(event.block_bytes);
  const bool address = event.address != predicted.address();
  const bool size = block != predicted.block_bytes();
  const bool totals =
      event.allocated != predicted.allocated(block) || event.reserved != predicted.reserved();
  const unsigned flags = (address ? format::report_address : 0u) |
                         (size ? format::report_block : 0u) | (totals ? format::report_totals : 0u);
  predicted.settle(event.allocated, event.reserved);
  put(format::kind::report, flags, event);
}

void record_writer::phase(std::uint64_t time_us, std::uint32_t device, const phase_event& event) {
  make_room();
  be_in(device, {});
  put_time(time_us);
  put(format::kind::phase, 0, event);
}

void record_writer::step(std::uint64_t time_us, std::uint32_t device, const step_event& event) {
  make_room();
  be_in(device, {});
  put_time(time_us);
  put(format::kind::step, 0, event);
}

void record_writer::operation(std::uint64_t time_us, std::uint32_t device, thread_id thread,
                              const operation_event& event) {
  make_room();
  be_in(device, thread);
  put_time(time_us);
  put(format::kind::operation, 0, event);
}

void record_writer::storage(const storage_event& event) {
  put(format::kind::storage, 0, event);
}

void record_writer::message(std::uint64_t time_us, std::uint64_t severity, std::string_view text) {
  make_room();
  put_time(time_us);
  put(format::kind::message, 0, record::message<ids>{severity, cut(text)});
}

void record_writer::end() {
  if (!records_.empty()) finish_section();
  format::trailer last{};
  last.magic = format::trailer_magic;
  last.blocks = part_.sequence - 1;
  last.events = events_;
  last.end_monotonic_ns = header_.start_monotonic_ns + now_us_ * ns_per_us;
  writer_.seal_and_end(last);
}

}  // namespace memtrace::trace
