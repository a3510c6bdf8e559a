// SPDX-License-Identifier: Apache-2.0
//
// Turns the records of one section after the other into calls of a record_visitor, and keeps the
// dictionary. Bytes that cannot have been written end the section with an error; the records
// before them have been delivered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "analyzer/trace/reader/cursor.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/error.h"
#include "analyzer/trace/reader/generated_code.h"
#include "analyzer/trace/reader/native_code.h"
#include "analyzer/trace/reader/records.h"
#include "analyzer/trace/reader/report_prediction.h"
#include "analyzer/trace/reader/section.h"

namespace memtrace::trace {

class decoder {
 public:
  // c10::Device holds its index in an int8.
  static constexpr std::uint32_t max_devices = 128;

  // How the frames of generated code and of machine code are given to the visitor.
  enum class generated : std::uint8_t { as_the_program, as_recorded };

  decoder(
      const format::file_header& header, dictionary& names, record_visitor& visitor,
      generated lines = generated::as_the_program,
      std::shared_ptr<symbols::debug_symbols> symbols = std::make_shared<symbols::debug_symbols>());

  // Errors: corrupt_record, too_many_definitions, with the section's offset.
  [[nodiscard]] status decode(const section& part) {
    begin(part);
    return go_on(part, 0);
  }
  // The same of a section that grows: once at its start, then whole records as they come.
  // `before`: bytes of the section's records that were decoded already.
  void begin(const section& part);
  [[nodiscard]] status go_on(const section& part, std::size_t before);

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t last_time_ns() const { return last_time_ns_; }

 private:
  struct context {  // starts afresh with each section
    std::uint64_t address = 0;
    std::uint64_t stream = 0;
    pool_id pool;
    std::uint32_t device = 0;
    thread_id thread;
    std::uint64_t ticks = 0;  // since base_ticks
    trace::scope scope;
    std::array<report_prediction, max_devices> predictions{};
  };
  enum class outcome { fine, malformed, too_many, unknown };

  [[nodiscard]] outcome decode_record(std::uint8_t tag);
  [[nodiscard]] outcome skippable(format::kind what, unsigned flags);
  [[nodiscard]] outcome behind_escape(unsigned flags);
  // The fields of one record, and then what it means.
  template <class Record>
  [[nodiscard]] outcome read(cursor& from, format::kind what, unsigned flags, Record record);

  // Fills in the fields that are known before the record is read.
  void prepare(format::kind, auto&) const {}
  void prepare(format::kind what, allocator_event& record) const;
  void prepare(format::kind what, reported_event& record) const;
  void prepare(format::kind what, report_event& record) const;

  [[nodiscard]] bool begins_spawned_process(const record::stack<ids>& record) const;

  // Events: to their handlers.
  template <class Record>
  [[nodiscard]] outcome take(format::kind what, unsigned /*flags*/, const Record& record) {
    const auto head = format::is_timed(what) ? timed() : untimed();
    if (!times_.ok()) return outcome::malformed;
    (visitor_.*handler_of(record))(head, record);
    return outcome::fine;
  }
  [[nodiscard]] outcome take(format::kind what, unsigned flags, allocator_event record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, reported_event record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::snapshot<ids>&);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, report_event record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const storage_event& record);
  // Their texts are repaired.
  [[nodiscard]] outcome take(format::kind what, unsigned flags, operation_event record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, message_event record);
  // Definitions and context.
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::info<ids>& fact);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::text<ids>& record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::frame<ids>& record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::stack<ids>& record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::thread<ids>& record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::object<ids>& record);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const device_facts& facts);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const record::context<ids>& now);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const scope& now);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const source_part& part);
  [[nodiscard]] outcome take(format::kind what, unsigned flags, const expected_growth& said);
  [[nodiscard]] static outcome after(dictionary::outcome of_name);

  [[nodiscard]] event timed();
  [[nodiscard]] event untimed() const;
  [[nodiscard]] error describe(const section& part, outcome what, std::size_t position) const;

  dictionary& names_;
  record_visitor& visitor_;
  const generated lines_;
  generated_code generated_{names_};
  native_code native_;
  std::uint64_t start_monotonic_ns_;
  double ns_per_tick_;
  unsigned tick_shift_;

  cursor records_{{}};
  cursor times_{{}};
  context state_;
  std::uint64_t base_ns_ = 0;  // of the section, since the trace was created
  std::uint64_t events_ = 0;
  std::uint64_t last_time_ns_ = 0;
};

}  // namespace memtrace::trace
