// SPDX-License-Identifier: Apache-2.0
//
// Who wants to follow the life of every block and the passing of steps while a trace is read:
// told by the attributor, after the replay has seen the event (`before`: before that).
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/rules.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

class settled_blocks;

class life_observer {
 public:
  virtual ~life_observer() = default;
  // Before an allocator's event, when what earlier ones made of the device is settled.
  virtual void before(const trace::event& /*head*/) {}
  virtual void born(std::uint32_t /*device*/, const block_life&) {}
  // A request that ended in an out-of-memory error: the block that there would have been, without
  // an address. Nothing follows.
  virtual void refused(std::uint32_t /*device*/, const block_life&) {}
  // The allocator said its real size; `difference` in two's complement.
  virtual void resized(std::uint32_t /*device*/, const block_life&, std::uint64_t /*difference*/) {}
  // Some of its bytes fell asleep or woke up; `difference` of what is asleep, in two's complement.
  virtual void slept(std::uint32_t /*device*/, const block_life&, std::uint64_t /*difference*/) {}
  // It died, or the trace ended. Returns whether `judged` shall follow: judging costs.
  [[nodiscard]] virtual bool ended(std::uint32_t /*device*/, const block_life&, const life_end&) {
    return false;
  }
  virtual void judged(std::uint32_t /*device*/, const block_life&, const life_end&,
                      const classification&) {}
  virtual void stepped(const trace::event& /*head*/, const trace::step_event&) {}
  // The agent said which module an object is.
  virtual void named(const trace::module_event&) {}
  virtual void phase_changed(const trace::event& /*head*/, const trace::phase_event&) {}
  // A heap scan. `block`: what lives at the record's address; null where none is known.
  virtual void census(const trace::event& /*head*/, const trace::heap_scan_event&) {}
  virtual void held(std::uint32_t /*device*/, const block_life* /*block*/,
                    const trace::storage_event&) {}
  // For each device, when the trace was read and every block has ended: what they were after all.
  virtual void finished(std::uint32_t /*device*/, settled_blocks&) {}
};

// Several observers as one, in the order in which they were added.
class life_observers final : public life_observer {
 public:
  // It must outlive this one.
  void add(life_observer& one) { all_.push_back({&one}); }

  void before(const trace::event& head) override {
    for (const auto& one : all_) one.who->before(head);
  }
  void born(std::uint32_t device, const block_life& block) override {
    for (const auto& one : all_) one.who->born(device, block);
  }
  void refused(std::uint32_t device, const block_life& block) override {
    for (const auto& one : all_) one.who->refused(device, block);
  }
  void resized(std::uint32_t device, const block_life& block, std::uint64_t difference) override {
    for (const auto& one : all_) one.who->resized(device, block, difference);
  }
  void slept(std::uint32_t device, const block_life& block, std::uint64_t difference) override {
    for (const auto& one : all_) one.who->slept(device, block, difference);
  }
  [[nodiscard]] bool ended(std::uint32_t device, const block_life& block,
                           const life_end& how) override {
    bool any = false;
    for (auto& one : all_) {
      one.asks = one.who->ended(device, block, how);
      any = any || one.asks;
    }
    return any;
  }
  void judged(std::uint32_t device, const block_life& block, const life_end& how,
              const classification& found) override {
    for (const auto& one : all_) {
      if (one.asks) one.who->judged(device, block, how, found);
    }
  }
  void stepped(const trace::event& head, const trace::step_event& record) override {
    for (const auto& one : all_) one.who->stepped(head, record);
  }
  void named(const trace::module_event& record) override {
    for (const auto& one : all_) one.who->named(record);
  }
  void phase_changed(const trace::event& head, const trace::phase_event& record) override {
    for (const auto& one : all_) one.who->phase_changed(head, record);
  }
  void census(const trace::event& head, const trace::heap_scan_event& record) override {
    for (const auto& one : all_) one.who->census(head, record);
  }
  void held(std::uint32_t device, const block_life* block,
            const trace::storage_event& record) override {
    for (const auto& one : all_) one.who->held(device, block, record);
  }
  void finished(std::uint32_t device, settled_blocks& blocks) override {
    for (const auto& one : all_) one.who->finished(device, blocks);
  }

 private:
  struct observer {
    life_observer* who = nullptr;
    bool asks = false;  // for judged, of the block that ended last
  };
  std::vector<observer> all_;
};

}  // namespace memtrace::attribution
