// SPDX-License-Identifier: Apache-2.0
//
// Turns the records of one section after the other into calls of a record_visitor, and keeps the
// dictionary. Bytes that cannot have been written end the section with an error; the records
// before them have been delivered.
#pragma once

#include <array>
#include <cstdint>

#include "analyzer/trace/cursor.h"
#include "analyzer/trace/dictionary.h"
#include "analyzer/trace/error.h"
#include "analyzer/trace/records.h"
#include "analyzer/trace/report_prediction.h"
#include "analyzer/trace/section.h"

namespace memtrace::trace {

class decoder {
 public:
  // c10::Device holds its index in an int8.
  static constexpr std::uint32_t max_devices = 128;

  decoder(const format::file_header& header, dictionary& names, record_visitor& visitor);

  // Errors: corrupt_record, too_many_definitions, with the section's offset.
  [[nodiscard]] status decode(const section& part);

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
  enum class verdict { fine, malformed, too_many };

  [[nodiscard]] verdict decode_record(std::uint8_t tag);
  [[nodiscard]] verdict definition(format::kind kind);
  [[nodiscard]] verdict allocator_record(format::kind kind, std::uint8_t flags);
  [[nodiscard]] verdict report(std::uint8_t flags);
  [[nodiscard]] verdict device();
  [[nodiscard]] verdict change_context();
  [[nodiscard]] verdict operation();
  [[nodiscard]] verdict cuda_call(std::uint8_t flags);
  [[nodiscard]] verdict cuda_undo(std::uint8_t flags);
  [[nodiscard]] verdict message();
  [[nodiscard]] verdict reported(bool is_alloc);
  // Skippable records (decoder_meaning.cpp).
  [[nodiscard]] verdict skippable(std::uint8_t number, std::uint8_t flags);
  [[nodiscard]] verdict change_scope(cursor& payload);
  [[nodiscard]] verdict object(cursor& payload);
  [[nodiscard]] verdict storage(cursor& payload);
  [[nodiscard]] verdict saved(cursor& payload);
  [[nodiscard]] verdict phase(cursor& payload);
  [[nodiscard]] verdict step(cursor& payload);
  [[nodiscard]] verdict counter(cursor& payload);
  [[nodiscard]] verdict census(cursor& payload);

  [[nodiscard]] event timed();
  [[nodiscard]] bool read_stack(stack_id& out);
  [[nodiscard]] bool read_text_id(text_id& out) { return read_text_id(records_, out); }
  [[nodiscard]] bool read_text_id(cursor& from, text_id& out) const;
  [[nodiscard]] bool read_object_id(cursor& from, object_id& out) const;
  [[nodiscard]] event untimed() const;
  [[nodiscard]] std::uint64_t next_address() { return state_.address += records_.signed_number(); }
  [[nodiscard]] error describe(const section& part, verdict what, std::size_t position) const;

  dictionary& names_;
  record_visitor& visitor_;
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
