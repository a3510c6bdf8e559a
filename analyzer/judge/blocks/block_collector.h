// SPDX-License-Identifier: Apache-2.0
//
// Follows the lives of all blocks and the naming of modules while a trace is read, and keeps what
// pieces of advice ask about each block: 72 bytes a block until `most_blocks`, none after that, and
// 24 bytes each time that autograd keeps one.
//
//   attributor ─► born, judged ─► block_collector ─┐
//   reader ─────► on_module ──────────┘            ├─► evidence, a device each
//   reader ─────► allocator::compiler ─► request_log ┘
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/model/attribution/attention.h"
#include "analyzer/model/attribution/frame_marks.h"
#include "analyzer/model/attribution/life_observer.h"
#include "analyzer/model/replay/address_map.h"

namespace memtrace::blocks {

// How many bits an element has, by the ways in which PyTorch names its type.

// c10::ScalarType, as in c10/core/ScalarType.h; 0: not known.
[[nodiscard]] std::uint8_t bits_of_scalar_type(std::uint32_t type);
// "torch.float32"; 0: not known.
[[nodiscard]] std::uint8_t bits_of_dtype(std::string_view name);

class block_collector final : public attribution::life_observer, public trace::record_visitor {
 public:
  block_collector(const trace::dictionary& names, std::uint64_t most_blocks)
      : names_(names), marks_(names), softmaxes_(names), room_(most_blocks) {}
  block_collector(const block_collector&) = delete;
  block_collector& operator=(const block_collector&) = delete;

  void born(std::uint32_t device, const attribution::block_life& block) override;
  void refused(std::uint32_t device, const attribution::block_life& block) override;
  [[nodiscard]] bool ended(std::uint32_t device, const attribution::block_life& block,
                           const attribution::life_end& how) override;
  void judged(std::uint32_t device, const attribution::block_life& block,
              const attribution::life_end& how, const attribution::classification& found) override;
  void held(std::uint32_t device, const attribution::block_life* block,
            const trace::storage_event& record) override;
  void census(const trace::event& head, const trace::heap_scan_event& record) override;
  void on_module(const trace::event& next, const trace::module_event& record) override;
  void on_saved(const trace::event& next, const trace::saved_event& record) override;
  void on_storage(const trace::event& next, const trace::storage_event& record) override;
  void on_phase(const trace::event& next, const trace::phase_event& record) override;

  // The blocks that autograd kept on a device; once, before facts_of.
  [[nodiscard]] std::vector<keeping> keepings_of(std::uint32_t device);
  [[nodiscard]] const std::vector<optimizer_step>& optimizer_steps() const { return steps_; }
  // After the last record, once. By block_number of the log, with the requests that freed them.
  // Empty: blocks that a request of the log made are not known.
  [[nodiscard]] fact_list facts_of(const allocator::request_log& log);
  [[nodiscard]] const std::map<trace::object_id, module_facts>& modules() const { return modules_; }

 private:
  struct live_block {
    std::uint32_t index = 0;
    block_facts facts;
  };
  struct of_device {
    std::vector<std::uint64_t> born;  // events, ascending, of those that were refused too
    fact_list facts;                  // of the same; of those that live still to come
    std::vector<keeping> keepings;
    replay::address_map<live_block> live;
  };
  [[nodiscard]] block_facts facts_at_birth(const attribution::block_life& block);
  void note_saved(const attribution::block_life& block, const attribution::classification& found,
                  block_facts& facts);
  [[nodiscard]] attribution::module_place place_of(trace::object_id module) const;
  [[nodiscard]] bool are_scores(const block_facts& facts) const;

  const trace::dictionary& names_;
  attribution::frame_marks marks_;
  attribution::softmax_calls softmaxes_;
  attribution::score_shapes scores_;
  std::uint64_t room_;  // for further blocks
  bool evaluates_ = false;
  bool is_failing_ = false;  // in the heap scan of a failed allocation
  std::map<std::uint32_t, of_device> devices_;
  std::map<trace::object_id, module_facts> modules_;
  std::vector<optimizer_step> steps_;
};

}  // namespace memtrace::blocks
