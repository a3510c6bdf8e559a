// SPDX-License-Identifier: Apache-2.0
//
// Two visitors in one pass: each record goes to the first, then to the second.
#pragma once

#include "analyzer/trace/records.h"

namespace memtrace::trace {

class visitor_pair final : public record_visitor {
 public:
  visitor_pair(record_visitor& first, record_visitor& second) : first_(first), second_(second) {}

#define MEMTRACE_TO_BOTH(handler, name, type)                    \
  void handler(const event& head, const type& record) override { \
    first_.handler(head, record);                                \
    second_.handler(head, record);                               \
  }
  MEMTRACE_EVENT_HANDLERS(MEMTRACE_TO_BOTH)
#undef MEMTRACE_TO_BOTH

  void on_info(std::string_view key, std::string_view value) override {
    first_.on_info(key, value);
    second_.on_info(key, value);
  }
  void on_thread(thread_id thread) override {
    first_.on_thread(thread);
    second_.on_thread(thread);
  }
  void on_device(const device_facts& facts) override {
    first_.on_device(facts);
    second_.on_device(facts);
  }
  void on_report(const report_event& report) override {
    first_.on_report(report);
    second_.on_report(report);
  }
  void on_object(object_id object, std::uint64_t address) override {
    first_.on_object(object, address);
    second_.on_object(object, address);
  }

 private:
  record_visitor& first_;
  record_visitor& second_;
};

}  // namespace memtrace::trace
