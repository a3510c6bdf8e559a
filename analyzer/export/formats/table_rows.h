// SPDX-License-Identifier: Apache-2.0
//
// A run as rows of tables (tables/schema.h): what the feed tells of each process, and its report.
// A block's row comes when it is freed, or at the end. Memory is proportional to the blocks that
// live at once, the call sites and the steps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/export/formats/sink.h"
#include "analyzer/export/tables/places.h"
#include "analyzer/export/tables/sink.h"

namespace memtrace::exporting {

class table_rows final : public sink {
 public:
  explicit table_rows(std::unique_ptr<tables::sink> to) : to_(std::move(to)), places_(*to_) {}

  void begin(const process& from) override;
  void carried(const block& one) override;
  void happened(const allocator_event& event, const block* one, const moment& after) override;
  void became(const block& one, attribution::category before, const moment& now) override;
  void end(const process& from, const std::vector<moment>& last) override;
  std::optional<std::string> finish() override { return to_->finish(); }

  void on_operation(const trace::event& head, const trace::operation_event& record) override;
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& record) override;
  void on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& record) override;
  void on_message(const trace::event& head, const trace::message_event& record) override;
  void on_phase(const trace::event& head, const trace::phase_event& record) override;
  void on_step(const trace::event& head, const trace::step_event& record) override;
  void on_counter(const trace::event& head, const trace::counter_event& record) override;
  void on_heap_scan(const trace::event& head, const trace::heap_scan_event& record) override;

 private:
  struct living {
    block one;
    std::optional<attribution::category> before;
    std::uint64_t since = 0;  // event from which it is not that any more
  };
  struct site_sums {
    std::uint64_t blocks = 0, bytes = 0;
    std::uint64_t peak_blocks = 0, peak_bytes = 0;
    std::uint64_t unfreed_blocks = 0, unfreed_bytes = 0;
  };
  struct step_reserved {
    std::uint64_t peak = 0;
    std::uint64_t end = 0;
  };
  struct of_device {
    const run::device_report* report = nullptr;
    std::map<std::uint32_t, site_sums> sites;
    std::vector<std::optional<step_reserved>> steps;  // those that were seen
    std::size_t step = 0;                             // that goes on
    step_reserved now;
    bool has_reserved = false;
  };
  struct more_of_event;

  [[nodiscard]] of_device& at(std::uint32_t device);
  void add_event(const trace::event& head, std::string_view kind, trace::stack_id stack,
                 const more_of_event& more);
  void add_block(const living& of, const allocator_event* freed);
  void add_steps(std::uint32_t device, const of_device& known);
  void add_sites(std::uint32_t device, const of_device& known);
  void pass_steps(of_device& known, const moment& after);

  std::unique_ptr<tables::sink> to_;
  tables::places places_;
  std::optional<process> from_;
  std::string path_;
  std::map<std::uint64_t, living> live_;  // by serial
  std::map<std::uint32_t, of_device> devices_;
};

}  // namespace memtrace::exporting
