// SPDX-License-Identifier: Apache-2.0
//
// A trace's records made into the requests of each device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "analyzer/model/allocator/recorded_answers.h"
#include "analyzer/model/allocator/request_log.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::allocator {

class compiler final : public trace::record_visitor {
 public:
  explicit compiler(const trace::dictionary& names, kept_answers keep = kept_answers::all);
  ~compiler() override;

  void on_info(std::string_view key, std::string_view value) override;
  void on_device(const trace::device_facts& facts) override;
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_report(const trace::report_event& report) override;
  void on_reported(const trace::event& head, const trace::reported_event& record) override;
  void on_operation(const trace::event& head, const trace::operation_event& record) override;
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;
  void on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& record) override;
  void on_message(const trace::event& head, const trace::message_event& record) override;

  // No more records. By device; of devices on which the allocator did something.
  [[nodiscard]] std::map<std::uint32_t, std::unique_ptr<request_log>> finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace memtrace::allocator
