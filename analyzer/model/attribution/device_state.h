// SPDX-License-Identifier: Apache-2.0
//
// One device while its trace is read: the lives of its blocks beside the replay of its allocator,
// and the moments that are of interest. The replay sees every record first; what it concludes
// from a record about the time before (a new peak) is taken over before the record is followed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/run_context.h"
#include "analyzer/model/attribution/step_series.h"
#include "analyzer/model/attribution/watch.h"
#include "analyzer/model/replay/address_map.h"
#include "analyzer/model/replay/device_replay.h"

namespace memtrace::attribution {

// The live blocks of a device by address. The lives stay where they are while others come and go.
class block_table {
 public:
  [[nodiscard]] block_life* find(std::uint64_t address) {
    const auto* const place = places_.find(address);
    return place == nullptr ? nullptr : &lives_[*place];
  }
  // There must be none at this address.
  [[nodiscard]] block_life& add(std::uint64_t address) {
    std::uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(lives_.size());
      lives_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
      lives_[place] = block_life{};
    }
    places_.insert(address) = place;
    lives_[place].address = address;
    return lives_[place];
  }
  void remove(std::uint64_t address) {
    const auto* const place = places_.find(address);
    if (place == nullptr) return;
    free_.push_back(*place);
    places_.erase(address);
  }
  template <class Function>
  void for_each(Function&& function) const {
    places_.for_each([&](std::uint64_t, std::uint32_t place) { function(lives_[place]); });
  }

 private:
  replay::address_map<std::uint32_t> places_;
  std::deque<block_life> lives_;
  std::vector<std::uint32_t> free_;
};

class device_state {
 public:
  device_state(run_context& run, const replay::device_replay& allocator, std::uint32_t index)
      : run_(run), allocator_(allocator), index_(index) {}

  // Around each event of the allocator: before the replay sees it, and after.
  void before_event(const trace::event& head);
  void take_peak();
  void allocate(const trace::event& head, std::uint64_t address, std::uint64_t bytes,
                trace::stack_id stack);
  // A request that ended in an out-of-memory error: part of what ran, without a block.
  void refuse(const trace::event& head, std::uint64_t bytes, trace::stack_id stack);
  void free(const trace::event& head, std::uint64_t address, trace::stack_id stack);
  void report(const trace::report_event& record);  // after the replay saw it
  // After the replay saw a record: what of the blocks is asleep now. Returns whether some woke up.
  bool follow_sleep();
  // The same where a call took memory away or put it back; it may have moved the peak.
  void change_backing(const trace::event& head, trace::stack_id stack);

  [[nodiscard]] block_life* find(std::uint64_t address) { return blocks_.find(address); }
  void user_step(const trace::event& head) { user_steps_.boundary(end_at(head)); }
  void optimizer_step(const trace::event& head, trace::object_id optimizer) {
    optimizer_steps_.optimizer_step(end_at(head), optimizer);
  }
  // The trace ended: the blocks that are alive get their verdicts.
  void finish();

  struct phase_sums {
    bool seen = false;
    std::uint64_t allocated = 0;
    std::uint64_t freed = 0;
    watch highest;
  };
  [[nodiscard]] const watch& peak() const { return peak_; }
  [[nodiscard]] const watch& at() const { return at_; }
  [[nodiscard]] const by_phase<phase_sums>& phases() const { return phases_; }
  [[nodiscard]] const std::vector<named_phase>& named() const { return named_; }
  [[nodiscard]] steps_found steps();  // once
  // While the trace goes on. None: the program has not marked any.
  [[nodiscard]] const step_series* marked_steps() const;
  [[nodiscard]] step_boundary boundary() const;
  // The blocks that live now; those that lived at the peak so far. They are judged as at a trace's
  // end.
  [[nodiscard]] watch now() const;
  [[nodiscard]] watch peak_so_far() const;

 private:
  [[nodiscard]] step_end end_at(const trace::event& head) const {
    return {head.number, head.time_ns, allocator_.allocated()};
  }
  // What is known of a block when it is asked for: all but its address. The phases go on by it.
  [[nodiscard]] block_life begun_by(const trace::event& head, std::uint64_t bytes,
                                    trace::stack_id stack);
  void observe();
  void count_named(const trace::event& head, std::uint64_t allocated, std::uint64_t freed);
  void observe_named(std::uint64_t total);
  void end(const block_life& block, const life_end& how);
  [[nodiscard]] life_end how_it_lives(const block_life& block) const;
  void add_living(watch& to) const;
  void mark(watch& which, std::uint64_t event, std::uint64_t time_ns, std::uint64_t total,
            phase during) const;

  run_context& run_;
  const replay::device_replay& allocator_;
  std::uint32_t index_;
  block_table blocks_;

  // The latest allocation, until the device's total after it has been looked at.
  bool grown_ = false;
  std::uint64_t latest_ = 0;  // its address
  std::uint64_t event_ = 0;
  std::uint64_t time_ns_ = 0;
  phase during_ = phase::setup;

  // Blocks of which something is asleep: of the moments that are marked from now on.
  std::map<std::uint64_t, std::uint64_t> asleep_;  // address, bytes
  mutable std::shared_ptr<const sleepers> asleep_now_;
  mutable bool asleep_changed_ = false;

  std::uint64_t peaks_seen_ = 0;
  watch peak_;
  watch at_;
  by_phase<phase_sums> phases_;
  std::vector<named_phase> named_;        // by number; those that this device has seen
  std::vector<std::uint32_t> named_now_;  // open at the latest allocation
  step_series user_steps_;
  step_series optimizer_steps_;
  step_series inferred_steps_;
  std::size_t boundaries_passed_ = 0;
};

}  // namespace memtrace::attribution
