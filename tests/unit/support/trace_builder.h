// SPDX-License-Identifier: Apache-2.0
//
// Writes small traces by hand, byte for byte by the text of trace_format.h and without the
// recorder's code, so that reader and recorder are not tested against each other only:
//
//   trace_builder trace;
//   trace.segment(a, 20_MiB).alloc(a, 4_MiB).free(a);
//   read(trace.bytes());          // as after kill -9: the newest records are in a slot
//   read(trace.clean_exit());     // blocks and a trailer
#pragma once

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memtrace/trace_format.h"
#include "tests/unit/support/trace_bytes.h"

namespace memtrace::test {

class trace_builder {
 public:
  static constexpr std::uint32_t slot_bytes = 8192;
  static constexpr std::uint32_t record_capacity = 6080;
  static constexpr std::uint32_t time_capacity = slot_bytes - record_capacity - 64;
  static constexpr std::uint64_t start_ns = 1'000'000'000;
  static constexpr std::uint64_t step_ns = 1000;  // between timed records; tick_shift is 3

  // Definitions. Texts and frames are defined when first used.
  trace_builder& info(std::string_view key, std::string_view value) {
    tag(format::kind::info);
    put_text(records_, key);
    put_text(records_, value);
    return *this;
  }
  std::uint64_t text(std::string_view value) {
    const auto [place, is_new] = texts_.try_emplace(std::string(value), texts_.size() + 1);
    if (is_new) {
      tag(format::kind::text);
      put_text(records_, value);
    }
    return place->second;
  }
  std::uint64_t define_frame(std::uint64_t file, std::uint64_t function, std::uint64_t line) {
    numbers(format::kind::frame, {file, function, line});
    return ++frames_;
  }
  std::uint64_t define_stack(std::uint64_t parent, std::uint64_t frame) {
    numbers(format::kind::stack, {parent, frame});
    return ++stacks_;
  }
  // Outermost first, as the format chains them.
  std::uint64_t stack(std::span<const test_frame> frames) {
    std::uint64_t parent = 0;
    for (const auto& frame : frames) {
      const auto file = text(frame.file);
      const auto function = text(frame.function);
      parent = define_stack(parent, define_frame(file, function, frame.line));
    }
    return parent;
  }
  std::uint64_t stack(std::initializer_list<test_frame> frames) {
    return stack(std::span(frames.begin(), frames.size()));
  }
  std::uint64_t thread(std::uint64_t system_id, std::string_view name) {
    const auto text_number = text(name);
    numbers(format::kind::thread, {system_id, text_number});
    return ++threads_;
  }
  trace_builder& device(std::uint64_t index, std::uint64_t total, std::uint64_t free,
                        std::string_view name) {
    const auto text_number = text(name);
    return numbers(format::kind::device, {index, total, free, 8, 6, 82, text_number});
  }
  trace_builder& context(std::uint64_t device, std::uint64_t thread) {
    return numbers(format::kind::context, {device, thread});
  }

  // Allocator records. Stream and pool are written when they differ from the latest.
  trace_builder& on_stream(std::uint64_t stream) {
    wanted_stream_ = stream;
    return *this;
  }
  trace_builder& in_pool(std::uint64_t first, std::uint64_t second) {
    wanted_pool_ = {first, second};
    return *this;
  }
  trace_builder& record(format::kind kind, std::uint64_t address, std::uint64_t size,
                        std::uint64_t stack = 0) {
    begin_allocator(kind);
    put_address(address);
    return end_allocator(size, stack);
  }
  trace_builder& oom(std::uint64_t device_free, std::uint64_t size, std::uint64_t stack = 0) {
    begin_allocator(format::kind::oom);
    put_unsigned(records_, device_free);
    return end_allocator(size, stack);
  }
  trace_builder& segment(std::uint64_t address, std::uint64_t size) {
    reserved_ += size;
    return record(format::kind::segment_alloc, address, size);
  }
  // With the allocator's report in its shortest form: everything as predicted, but for the first
  // one in a block, which says the totals. For one device.
  trace_builder& alloc(std::uint64_t address, std::uint64_t size, std::uint64_t stack = 0) {
    sizes_[address] = size;
    record(format::kind::alloc, address, size, stack);
    return short_report(rounded(size));
  }
  trace_builder& free(std::uint64_t address) {
    record(format::kind::free_requested, address, sizes_[address]);
    record(format::kind::free_completed, address, sizes_[address]);
    return short_report(~rounded(sizes_[address]) + 1);
  }
  trace_builder& report() {
    tag(format::kind::report);
    return *this;
  }
  trace_builder& report_block(std::int64_t block_bytes) {
    tag(format::kind::report, format::report_block);
    put_signed(records_, block_bytes);
    return *this;
  }
  trace_builder& report_totals(std::uint64_t allocated, std::uint64_t reserved) {
    tag(format::kind::report, format::report_totals);
    put_unsigned(records_, allocated);
    put_unsigned(records_, reserved);
    return *this;
  }

  trace_builder& cuda_call(std::string_view api, std::uint64_t address, std::uint64_t size,
                           std::uint8_t flags = 0, std::uint64_t error = 0,
                           std::string_view owner = {}) {
    const auto text_number = text(api);
    const auto owner_number = (flags & format::call_owner) != 0 ? text(owner) : 0;
    tag(format::kind::cuda_call, flags);
    put_unsigned(records_, text_number);
    put_address(address);
    put_unsigned(records_, size);
    put_unsigned(records_, address);  // handle
    if ((flags & format::call_failed) != 0) put_unsigned(records_, error);
    if ((flags & format::call_owner) != 0) put_unsigned(records_, owner_number);
    put_unsigned(records_, 0);  // stack
    return time();
  }
  trace_builder& cuda_undo(std::string_view api, std::uint64_t address) {
    const auto text_number = text(api);
    tag(format::kind::cuda_undo);
    put_unsigned(records_, text_number);
    put_address(address);
    put_unsigned(records_, 1);
    return time();
  }
  trace_builder& reported(bool is_alloc, std::uint64_t address, std::uint64_t bytes) {
    tag(is_alloc ? format::kind::reported_alloc : format::kind::reported_free);
    put_address(address);
    put_unsigned(records_, bytes);
    put_unsigned(records_, 0);
    return time();
  }
  trace_builder& operation(format::operation which, std::uint64_t a = 0, std::uint64_t b = 0,
                           std::string_view words = {}) {
    tag(format::kind::operation);
    for (const auto value : {static_cast<std::uint64_t>(which), a, b}) {
      put_unsigned(records_, value);
    }
    put_text(records_, words);
    return time();
  }
  trace_builder& message(std::uint64_t severity, std::string_view text) {
    tag(format::kind::message);
    put_unsigned(records_, severity);
    put_text(records_, text);
    return time();
  }

  // Meaning. What is given by name is defined when first used; 0 as an id means none.
  trace_builder& scope(const scope_numbers& now) {
    const auto node = text_or_none(now.node);
    byte_vector payload;
    for (const auto value : {now.flags, now.module, now.root}) put_unsigned(payload, value);
    if ((now.flags & format::scope_backward) != 0) {
      put_unsigned(payload, now.forward);
      put_unsigned(payload, node);
    }
    return skippable(format::kind::scope, payload);
  }
  std::uint64_t object(std::uint64_t address) {
    byte_vector payload;
    put_unsigned(payload, address);
    skippable(format::kind::object, payload);
    return ++objects_;
  }
  trace_builder& module(std::uint64_t object, std::uint64_t root, std::string_view path,
                        std::string_view type, std::uint64_t flags = 0) {
    const auto path_number = text(path);
    const auto type_number = text(type);
    byte_vector payload;
    for (const auto value : {std::uint64_t{0}, object, root, path_number, type_number, flags}) {
      put_unsigned(payload, value);
    }
    return skippable(format::kind::object, payload);
  }
  trace_builder& storage(format::storage_role role, std::uint64_t address,
                         const storage_words& more = {}) {
    const auto name = text_or_none(more.name);
    const auto detail = text_or_none(more.detail);
    byte_vector payload;
    put_unsigned(payload, static_cast<std::uint64_t>(role));
    put_signed(payload, static_cast<std::int64_t>(address - address_));
    for (const auto value : {more.bytes, name, detail, more.object, more.flags}) {
      put_unsigned(payload, value);
    }
    return skippable(format::kind::storage, payload);
  }
  trace_builder& saved(std::uint64_t address, const saved_numbers& tensor = {}) {
    byte_vector payload;
    put_signed(payload, static_cast<std::int64_t>(address - address_));
    for (const auto value : {tensor.bytes, tensor.flags, tensor.scalar_type, tensor.dimensions,
                             tensor.rows, tensor.columns}) {
      put_unsigned(payload, value);
    }
    return skippable(format::kind::saved, payload);
  }
  trace_builder& phase(format::phase_action action, format::phase_source source,
                       std::uint64_t object = 0, std::string_view name = {}) {
    const auto name_number = text_or_none(name);
    byte_vector payload;
    const auto kinds = {static_cast<std::uint64_t>(action), static_cast<std::uint64_t>(source)};
    for (const auto value : kinds) put_unsigned(payload, value);
    for (const auto value : {object, name_number}) put_unsigned(payload, value);
    return skippable(format::kind::phase, payload).time();
  }
  trace_builder& step(format::step_source source, std::uint64_t object = 0,
                      std::string_view name = {}) {
    const auto name_number = text_or_none(name);
    byte_vector payload;
    const auto kind = static_cast<std::uint64_t>(source);
    for (const auto value : {kind, object, name_number}) put_unsigned(payload, value);
    return skippable(format::kind::step, payload).time();
  }
  trace_builder& counter(std::string_view name, double value) {
    byte_vector payload;
    put_unsigned(payload, text(name));
    put_unsigned(payload, std::bit_cast<std::uint64_t>(value));
    return skippable(format::kind::counter, payload).time();
  }

  trace_builder& census(format::census_action action, format::census_reason reason,
                        std::uint64_t flags = 0, std::uint64_t bytes = 0,
                        std::uint64_t nanoseconds = 0) {
    byte_vector payload;
    for (const auto value : {static_cast<std::uint64_t>(action), static_cast<std::uint64_t>(reason),
                             flags, bytes, nanoseconds}) {
      put_unsigned(payload, value);
    }
    return skippable(format::kind::census, payload).time();
  }

  // A part of a file's text.
  trace_builder& source(std::string_view file, std::string_view text,
                        const source_numbers& more = {}) {
    byte_vector payload;
    const auto name = this->text(file);
    const auto bytes = more.bytes == 0 ? text.size() : more.bytes;
    for (const auto value : {name, more.flags, more.modified_ns, bytes}) {
      put_unsigned(payload, value);
    }
    put_text(payload, more.digest);
    put_unsigned(payload, more.offset);
    put_text(payload, text);
    return escaped(32, {reinterpret_cast<const char*>(payload.data()), payload.size()});
  }
  trace_builder& length(std::string_view path, std::string_view owner, std::uint64_t length) {
    return escaped_numbers(33, {text(path), text(owner), length}).time();
  }
  trace_builder& expectation(std::string_view what, std::string_view why, std::string_view said_in,
                             std::uint64_t said_at, const expected_object& of = {}) {
    return escaped_numbers(
        34, {text(what), text_or_none(why), text_or_none(said_in), said_at, of.flags,
             text_or_none(of.owner), text_or_none(of.file), of.line, text_or_none(of.holder)});
  }
  trace_builder& escaped_numbers(std::uint64_t kind, std::initializer_list<std::uint64_t> numbers) {
    byte_vector payload;
    for (const auto value : numbers) put_unsigned(payload, value);
    return escaped(kind, {reinterpret_cast<const char*>(payload.data()), payload.size()});
  }
  trace_builder& escaped(std::uint64_t kind, std::string_view payload) {
    records_.push_back(0);
    put_unsigned(records_, kind);
    put_text(records_, payload);
    return *this;
  }

  // Bytes of a record area as they are, for what no recorder writes.
  trace_builder& raw(std::initializer_list<unsigned> bytes) {
    for (const auto b : bytes) records_.push_back(static_cast<unsigned char>(b));
    return *this;
  }
  trace_builder& time(std::uint64_t ticks = step_ns >> 3) {
    put_unsigned(times_, ticks);
    ++events_;
    return *this;
  }

  // The open slot becomes a block; all context starts afresh.
  trace_builder& end_block() {
    blocks_ += block_bytes(sequence_, records_, times_);
    ++sequence_;
    first_event_ = events_;
    records_.clear();
    times_.clear();
    address_ = stream_ = 0;
    pool_ = {};
    says_totals_ = true;
    return *this;
  }

  // The file after a kill: what end_block has not taken lies in the slot.
  [[nodiscard]] byte_vector bytes() const { return assemble(format::file_state::recording, {}); }
  [[nodiscard]] byte_vector clean_exit() {
    if (!records_.empty()) end_block();
    format::trailer end{};
    end.magic = format::trailer_magic;
    end.blocks = sequence_ - 1;
    end.events = events_;
    end.end_monotonic_ns = start_ns + 2'000'000'000;
    seal(end);
    byte_vector tail;
    put_object(tail, end);
    return assemble(format::file_state::complete, tail);
  }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  static constexpr std::size_t first_block = format::header_bytes + 2 * slot_bytes;

  format::file_header header = default_header();  // sealed by assemble

 private:
  struct appendable : byte_vector {
    void operator+=(const byte_vector& more) { insert(end(), more.begin(), more.end()); }
  };

  [[nodiscard]] static std::uint64_t rounded(std::uint64_t size) {
    return std::max<std::uint64_t>((size + 511) / 512 * 512, 512);
  }
  trace_builder& short_report(std::uint64_t block) {
    allocated_ += block;
    if (!std::exchange(says_totals_, false)) return report();
    return report_totals(allocated_, reserved_);
  }

  static format::file_header default_header() {
    format::file_header made{};
    std::memcpy(made.magic, format::file_magic, sizeof(made.magic));
    made.version = format::version;
    made.header_bytes = format::header_bytes;
    made.slot_bytes = slot_bytes;
    made.slot_count = format::slot_count;
    made.slot_record_capacity = record_capacity;
    made.slot_time_capacity = time_capacity;
    made.process_id = 4711;
    made.start_monotonic_ns = start_ns;
    made.ns_per_tick = 1.0;
    made.tick_shift = 3;
    return made;
  }

  trace_builder& tag(format::kind kind, unsigned flags = 0) {
    records_.push_back(
        static_cast<unsigned char>(static_cast<unsigned>(kind) | flags << format::kind_bits));
    return *this;
  }
  trace_builder& numbers(format::kind kind, std::initializer_list<std::uint64_t> values) {
    tag(kind);
    for (const auto value : values) put_unsigned(records_, value);
    return *this;
  }
  [[nodiscard]] std::uint64_t text_or_none(std::string_view value) {
    return value.empty() ? 0 : text(value);
  }
  trace_builder& skippable(format::kind kind, const byte_vector& payload) {
    tag(kind);
    put_text(records_, {reinterpret_cast<const char*>(payload.data()), payload.size()});
    return *this;
  }
  void put_address(std::uint64_t address) {
    put_signed(records_, static_cast<std::int64_t>(address - address_));
    address_ = address;
  }
  void begin_allocator(format::kind kind) {
    unsigned flags = 0;
    if (wanted_stream_ != stream_) flags |= format::flag_stream;
    if (wanted_pool_ != pool_) flags |= format::flag_pool;
    tag(kind, flags);
  }
  trace_builder& end_allocator(std::uint64_t size, std::uint64_t stack) {
    put_unsigned(records_, size);
    if (wanted_stream_ != stream_) put_unsigned(records_, stream_ = wanted_stream_);
    if (wanted_pool_ != pool_) {
      put_unsigned(records_, wanted_pool_.first);
      put_unsigned(records_, wanted_pool_.second);
      pool_ = wanted_pool_;
    }
    put_unsigned(records_, stack);
    return time();
  }

  [[nodiscard]] static byte_vector zstd_frame(const byte_vector& plain) {
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    byte_vector out(ZSTD_compressBound(plain.size()));
    out.resize(ZSTD_compress2(context, out.data(), out.size(), plain.data(), plain.size()));
    ZSTD_freeCCtx(context);
    return out;
  }
  [[nodiscard]] byte_vector block_bytes(std::uint64_t sequence, const byte_vector& records,
                                        const byte_vector& times) const {
    const auto stored_records = zstd_frame(records);
    const auto stored_times = zstd_frame(times);
    format::block_header head{};
    head.magic = format::block_magic;
    head.sequence = sequence;
    head.base_monotonic_ns = base_ns();
    head.first_event = first_event_;
    head.record_bytes = static_cast<std::uint32_t>(records.size());
    head.time_bytes = static_cast<std::uint32_t>(times.size());
    head.stored_record_bytes = static_cast<std::uint32_t>(stored_records.size());
    head.stored_time_bytes = static_cast<std::uint32_t>(stored_times.size());
    seal(head);
    appendable out;
    put_object(out, head);
    out += stored_records;
    out += stored_times;
    return out;
  }
  [[nodiscard]] std::uint64_t base_ns() const { return start_ns + first_event_ * step_ns; }

  [[nodiscard]] byte_vector assemble(format::file_state state, const byte_vector& tail) const {
    auto head = header;
    head.header_checksum = format::fnv1a32(reinterpret_cast<const unsigned char*>(&head),
                                           offsetof(format::file_header, header_checksum));
    head.state = static_cast<std::uint32_t>(state);
    appendable out;
    put_object(out, head);
    out.resize(first_block);
    if (!records_.empty()) {
      const auto slot = format::header_bytes + (sequence_ - 1) % 2 * slot_bytes;
      format::slot_header open{};
      open.sequence = sequence_;
      open.committed = records_.size() | std::uint64_t{times_.size()} << 32;
      open.base_monotonic_ns = base_ns();
      open.first_event = first_event_;
      std::memcpy(out.data() + slot, &open, sizeof(open));
      std::copy(records_.begin(), records_.end(), out.begin() + slot + sizeof(open));
      std::copy(times_.begin(), times_.end(), out.begin() + slot + sizeof(open) + record_capacity);
    }
    out += blocks_;
    out += tail;
    return out;
  }

  struct pool_words {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    bool operator==(const pool_words&) const = default;
  };

  byte_vector records_;
  byte_vector times_;
  appendable blocks_;
  std::map<std::string, std::uint64_t> texts_;
  std::map<std::uint64_t, std::uint64_t> sizes_;
  std::uint64_t allocated_ = 0;
  std::uint64_t reserved_ = 0;
  bool says_totals_ = false;
  std::uint64_t frames_ = 0;
  std::uint64_t stacks_ = 0;
  std::uint64_t threads_ = 0;
  std::uint64_t objects_ = 0;
  std::uint64_t sequence_ = 1;
  std::uint64_t events_ = 0;
  std::uint64_t first_event_ = 0;
  std::uint64_t address_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t wanted_stream_ = 0;
  pool_words pool_;
  pool_words wanted_pool_;
};

}  // namespace memtrace::test
