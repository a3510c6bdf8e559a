// SPDX-License-Identifier: Apache-2.0
//
// The first part of a trace, for those who keep something of every request: all that the
// allocators did until they were asked so many times, so that what was kept is a whole run that
// ended early.
#pragma once

#include <cstdint>

#include "analyzer/trace/reader/records.h"

namespace memtrace::blocks {

class first_requests final : public trace::record_visitor {
 public:
  first_requests(trace::record_visitor& to, std::uint64_t most) : to_(to), left_(most) {}

  [[nodiscard]] bool cut() const { return cut_; }

  void on_info(std::string_view key, std::string_view value) override { to_.on_info(key, value); }
  void on_device(const trace::device_facts& facts) override { to_.on_device(facts); }
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override {
    // Between two requests, never within one.
    if (left_ == 0) cut_ = true;
    if (cut_) return;
    using format::kind;
    if (record.kind == kind::alloc || record.kind == kind::free_requested) --left_;
    to_.on_allocator(head, record);
  }
  void on_report(const trace::report_event& report) override {
    if (!cut_) to_.on_report(report);
  }
  void on_reported(const trace::event& head, const trace::reported_event& record) override {
    if (!cut_) to_.on_reported(head, record);
  }
  void on_operation(const trace::event& head, const trace::operation_event& record) override {
    if (!cut_) to_.on_operation(head, record);
  }
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override {
    if (!cut_) to_.on_cuda_call(head, call);
  }
  void on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) override {
    if (!cut_) to_.on_cuda_undo(head, failed);
  }
  void on_message(const trace::event& head, const trace::message_event& record) override {
    if (!cut_) to_.on_message(head, record);
  }

 private:
  trace::record_visitor& to_;
  std::uint64_t left_;
  bool cut_ = false;
};

}  // namespace memtrace::blocks
