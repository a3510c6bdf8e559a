// SPDX-License-Identifier: Apache-2.0
//
// Two observers of the lives of blocks in one pass.
#pragma once

#include "analyzer/model/attribution/life_observer.h"

namespace memtrace::attribution {

class observer_pair final : public life_observer {
 public:
  observer_pair(life_observer& first, life_observer& second) : first_(first), second_(second) {}

  void before(const trace::event& head) override {
    first_.before(head);
    second_.before(head);
  }
  void born(std::uint32_t device, const block_life& block) override {
    first_.born(device, block);
    second_.born(device, block);
  }
  void resized(std::uint32_t device, const block_life& block, std::uint64_t difference) override {
    first_.resized(device, block, difference);
    second_.resized(device, block, difference);
  }
  [[nodiscard]] bool ended(std::uint32_t device, const block_life& block,
                           const life_end& how) override {
    first_asks_ = first_.ended(device, block, how);
    second_asks_ = second_.ended(device, block, how);
    return first_asks_ || second_asks_;
  }
  void judged(std::uint32_t device, const block_life& block, const life_end& how,
              const classification& found) override {
    if (first_asks_) first_.judged(device, block, how, found);
    if (second_asks_) second_.judged(device, block, how, found);
  }
  void stepped(const trace::event& head, const trace::step_event& record) override {
    first_.stepped(head, record);
    second_.stepped(head, record);
  }
  void named(const trace::module_event& record) override {
    first_.named(record);
    second_.named(record);
  }
  void phase_changed(const trace::event& head, const trace::phase_event& record) override {
    first_.phase_changed(head, record);
    second_.phase_changed(head, record);
  }
  void census(const trace::event& head, const trace::census_event& record) override {
    first_.census(head, record);
    second_.census(head, record);
  }
  void held(std::uint32_t device, const block_life* block,
            const trace::storage_event& record) override {
    first_.held(device, block, record);
    second_.held(device, block, record);
  }
  void finished(std::uint32_t device, settled_blocks& blocks) override {
    first_.finished(device, blocks);
    second_.finished(device, blocks);
  }

 private:
  life_observer& first_;
  life_observer& second_;
  bool first_asks_ = false;  // for judged, of the block that ended last
  bool second_asks_ = false;
};

}  // namespace memtrace::attribution
