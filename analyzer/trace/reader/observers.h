// SPDX-License-Identifier: Apache-2.0
//
// Visitors of one pass: each record goes to all of them, in the order of the list.
//
//   trace::observers all(attributor, counters, host);
//   reader.read(all);
//
// Their types are known, so a record costs one virtual call and not one for each of them.
#pragma once

#include <tuple>

#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

template <class... Observers>
class observers final : public record_visitor {
 public:
  // All must outlive it.
  explicit observers(Observers&... all) : all_(all...) {}

#define MEMTRACE_TO_ALL(name, ...)                                              \
  std::apply([&](Observers&... each) { (each.name(__VA_ARGS__), ...); }, all_); \
  static_assert(true)
#define MEMTRACE_TIMED(handler, name, type)                      \
  void handler(const event& head, const type& record) override { \
    MEMTRACE_TO_ALL(handler, head, record);                      \
  }
  MEMTRACE_EVENT_HANDLERS(MEMTRACE_TIMED)
#undef MEMTRACE_TIMED

  void on_info(std::string_view key, std::string_view value) override {
    MEMTRACE_TO_ALL(on_info, key, value);
  }
  void on_thread(thread_id thread) override {
    MEMTRACE_TO_ALL(on_thread, thread);
  }
  void on_device(const device_facts& facts) override {
    MEMTRACE_TO_ALL(on_device, facts);
  }
  void on_report(const report_event& report) override {
    MEMTRACE_TO_ALL(on_report, report);
  }
  void on_object(object_id object, std::uint64_t address) override {
    MEMTRACE_TO_ALL(on_object, object, address);
  }
  void on_source(const source_part& part) override {
    MEMTRACE_TO_ALL(on_source, part);
  }
  void on_expectation(const expected_growth& said) override {
    MEMTRACE_TO_ALL(on_expectation, said);
  }
#undef MEMTRACE_TO_ALL

 private:
  std::tuple<Observers&...> all_;
};

}  // namespace memtrace::trace
