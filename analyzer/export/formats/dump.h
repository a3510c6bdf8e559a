// SPDX-License-Identifier: Apache-2.0
//
// A trace as JSON, one object a line for each record in order, each with what the replay had at
// that moment, so that a test or a script can compare event by event.
//
//   {"n":7,"kind":"alloc","t_ns":…,"device":0,"thread":4711,"address":…,"size":…,"stream":…,
//    "pool":[0,0],"stack":[{"file":…,"line":…,"function":…},…],
//    "block":…,"allocated":…,"reserved":…,              ← what the allocator reported
//    "replayed_allocated":…,"replayed_reserved":…}      ← the replay's own sums at the report
//
// The report comes after its alloc or free_requested, possibly with other records between: a
// line waits for its report, and the lines behind it wait too.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <unordered_map>

#include "analyzer/model/replay/replay.h"

namespace memtrace::exporting {

struct dump_options {
  bool stacks = true;
};

class dump_writer final : public trace::record_visitor {
 public:
  dump_writer(const trace::dictionary& names, std::FILE* out, dump_options options)
      : names_(names), replay_(names), out_(out), options_(options) {}

#define MEMTRACE_HANDLER(handler, name, type) \
  void handler(const trace::event& head, const trace::type& record) override;
  MEMTRACE_EVENT_HANDLERS(MEMTRACE_HANDLER)
#undef MEMTRACE_HANDLER
  void on_info(std::string_view key, std::string_view value) override;
  void on_thread(trace::thread_id thread) override;
  void on_device(const trace::device_facts& facts) override;
  void on_report(const trace::report_event& report) override;
  void on_object(trace::object_id object, std::uint64_t address) override;
  void on_source(const trace::source_part& part) override;
  void on_expectation(const trace::expected_growth& said) override;
  void finish();  // no more records

  [[nodiscard]] bool failed() const {
    return failed_;
  }  // errno says why

 private:
  struct line {
    std::string text;
    std::uint32_t device = 0;
    bool waits = false;  // for its report
  };

  class fields;

  void begin(const trace::event& head, std::string_view kind);
  void add(std::string_view key, std::uint64_t value);
  void add(std::string_view key, std::string_view value);
  void add_stack(trace::stack_id stack, std::string_view key);
  void add_scope(const trace::scope& scope);
  // The line of an event: its fields, as memtrace/records.h says.
  void show(const trace::event& head, std::string_view kind, const auto& record);
  void show(const trace::event& head, std::string_view kind, const trace::allocator_event& record);
  void show(const trace::event& head, std::string_view kind, const trace::reported_event& record);
  void show(const trace::event& head, std::string_view kind, const trace::operation_event& record);
  void show(const trace::event& head, std::string_view kind, const trace::cuda_call_event& call);
  void show(const trace::event& head, std::string_view kind, const trace::cuda_undo_event& failed);
  template <class Record>
  void add_fields(const Record& record, unsigned flags = 0, const trace::scope* scope = nullptr);
  void end(std::uint32_t device, bool waits);
  void stop_waiting(std::uint32_t device);
  void write_ready(bool all);

  const trace::dictionary& names_;
  replay::replayer replay_;
  std::FILE* out_;
  dump_options options_;
  std::string text_;  // of the line in the making
  std::deque<line> lines_;
  std::unordered_map<std::uint32_t, std::string> stacks_;  // as JSON
  std::size_t stack_bytes_ = 0;                            // of them
  bool failed_ = false;
};

}  // namespace memtrace::exporting
