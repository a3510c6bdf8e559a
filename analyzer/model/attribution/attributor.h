// SPDX-License-Identifier: Apache-2.0
//
// Who holds every byte: fed with the records of a trace in one pass, it replays the allocator, and
// beside it remembers of every live block where it came from and what was said about it.
//
//   replay::replayer replayed(reader.names());
//   attribution::attributor attributed(reader.names(), replayed);
//   const auto completeness = reader.read(attributed);    // feeds the replayer, too
//   const attribution::result found = attributed.finish();  // finishes the replayer, too
//
// The category of a block is decided when it dies or at the end, when all that was said about it is
// known. Memory: in proportion to the blocks alive at once, to the dictionary, and to the steps.
#pragma once

#include <memory>

#include "analyzer/model/attribution/result.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

class run_state;

class attributor final : public trace::record_visitor {
 public:
  attributor(const trace::dictionary& names, replay::replayer& replayed, options wanted = {});
  ~attributor() override;

  void on_info(std::string_view key, std::string_view value) override;
  void on_thread(trace::thread_id thread) override;
  void on_device(const trace::device_facts& facts) override;
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_report(const trace::report_event& report) override;
  void on_reported(const trace::event& head, const trace::reported_event& record) override;
  void on_operation(const trace::event& head, const trace::operation_event& record) override;
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;
  void on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) override;
  void on_message(const trace::event& head, const trace::message_event& record) override;
  void on_module(const trace::event& next, const trace::module_event& record) override;
  void on_storage(const trace::event& next, const trace::storage_event& record) override;
  void on_saved(const trace::event& next, const trace::saved_event& record) override;
  void on_phase(const trace::event& head, const trace::phase_event& record) override;
  void on_step(const trace::event& head, const trace::step_event& record) override;
  void on_heap_scan(const trace::event& head, const trace::heap_scan_event& record) override;

  [[nodiscard]] result finish();  // once, after the last record

  // While the trace goes on: what is known of a device so far. An empty one: it has no event yet.
  // Costs as much as there are live blocks.
  [[nodiscard]] composition held_now(std::uint32_t device) const;
  [[nodiscard]] composition held_at_peak(std::uint32_t device) const;
  [[nodiscard]] steps_so_far steps(std::uint32_t device) const;

 private:
  replay::replayer& replayed_;
  std::unique_ptr<run_state> state_;
};

}  // namespace memtrace::attribution
