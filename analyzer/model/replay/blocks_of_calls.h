// SPDX-License-Identifier: Apache-2.0
//
// The device memory of a program without PyTorch, as blocks: what its calls of CUDA get and give back
// is then all that there is, and is told to the same parts as the blocks of PyTorch's allocator.
//
//   trace::observers all(attributor, …);
//   replay::blocks_of_calls blocks(names, all);
//   trace::observers all_and_blocks(all, blocks);   // a call goes to all, then what it changed
//   reader.read(all_and_blocks);
//   blocks.told()    // false: the allocator came after all, and all must be told again without these
#pragma once

#include "analyzer/model/replay/driver_memory.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

class blocks_of_calls final : public trace::record_visitor {
 public:
  // Both must outlive it.
  blocks_of_calls(const trace::dictionary& names, trace::record_visitor& to)
      : names_(names), to_(to) {}

  // For who cannot tell all again: Python may load PyTorch at any time.
  void stop_for_python() { stops_for_python_ = true; }
  // There were some, and no allocator.
  [[nodiscard]] bool told() const { return told_; }

  void on_info(std::string_view key, std::string_view value) override;
  void on_allocator(const trace::event&, const trace::allocator_event&) override { stop(); }
  void on_reported(const trace::event&, const trace::reported_event&) override { stop(); }
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) override;
  void on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) override;

 private:
  void stop() { is_alone_ = told_ = false; }
  void tell(const trace::event& head);

  const trace::dictionary& names_;
  trace::record_visitor& to_;
  driver_memory driver_;
  bool stops_for_python_ = false;
  bool is_alone_ = true;
  bool told_ = false;
};

}  // namespace memtrace::replay
