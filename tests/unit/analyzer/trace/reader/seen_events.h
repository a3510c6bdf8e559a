// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace's bytes and keeps every record that the reader delivered.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/reader.h"
#include "tests/unit/support/trace_builder.h"

namespace memtrace::test {

class event_list final : public trace::record_visitor {
 public:
  void on_info(std::string_view key, std::string_view value) override {
    infos.emplace_back(key, value);
  }
  void on_device(const trace::device_facts& facts) override { devices.push_back(facts); }
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override {
    heads.push_back(head);
    allocator.push_back(record);
  }
  void on_report(const trace::report_event& report) override { reports.push_back(report); }
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override {
    heads.push_back(head);
    calls.push_back(call);
  }
  void on_message(const trace::event& head, const trace::message_event& record) override {
    heads.push_back(head);
    messages.emplace_back(record.text);
  }

  std::vector<std::pair<std::string, std::string>> infos;
  std::vector<trace::device_facts> devices;
  std::vector<trace::event> heads;
  std::vector<trace::allocator_event> allocator;
  std::vector<trace::report_event> reports;
  std::vector<trace::cuda_call_event> calls;
  std::vector<std::string> messages;
};

struct reading {
  event_list seen;
  trace::completeness facts;
  trace::status refused;  // the header's error; nothing else is set then
};

[[nodiscard]] inline reading read(const byte_vector& bytes) {
  reading done;
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto opened = trace::reader::open(source);
  if (!opened) {
    done.refused = opened.failure();
    return done;
  }
  done.facts = opened->read(done.seen);
  return done;
}

}  // namespace memtrace::test
