// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/device_state.h"

#include <limits>
#include <utility>

#include "analyzer/model/attribution/life_observer.h"

namespace memtrace::attribution {

void device_state::mark(watch& which, std::uint64_t event, std::uint64_t time_ns,
                        std::uint64_t total, phase during) const {
  watched_moment now;
  now.event = event;
  now.time_ns = time_ns;
  now.total = total;
  now.during = during;
  now.backwards_ended = run_.phases.passes().backwards_ended;
  if (std::exchange(asleep_changed_, false)) {
    auto made = std::make_shared<sleepers>();
    made->reserve(asleep_.size());
    for (const auto& [address, bytes] : asleep_) made->push_back({address, bytes});
    asleep_now_ = made->empty() ? nullptr : std::move(made);
  }
  now.asleep = asleep_now_;
  which.set(now);
}

bool device_state::follow_sleep() {
  bool woke = false;
  for (const auto& [address, bytes] : allocator_.sleep_changes()) {
    auto* const block = blocks_.find(address);
    if (block == nullptr) continue;
    const auto difference = bytes - block->asleep;
    woke = woke || bytes < block->asleep;
    block->asleep = bytes;
    asleep_changed_ = true;
    if (bytes != 0) {
      asleep_[address] = bytes;
    } else {
      asleep_.erase(address);
    }
    if (auto* const lives = run_.wanted.lives) lives->slept(index_, *block, difference);
  }
  return woke;
}

// A block that woke up makes the total grow as one that is made does.
void device_state::change_backing(const trace::event& head, trace::stack_id stack) {
  const bool is_peak = allocator_.peak_allocated().event == head.number;
  if (!is_peak) take_peak();
  if (!follow_sleep()) return;
  event_ = head.number;
  time_ns_ = head.time_ns;
  during_ = run_.phases.at_free(head, run_.marks[stack]).during;
  phases_[during_].seen = true;
  if (run_.named.any()) {
    const auto open = run_.named.open_at(head.thread, run_.phases.in_backward(head));
    if (named_.size() < run_.named.names().size()) named_.resize(run_.named.names().size());
    named_now_.assign(open.begin(), open.end());
  }
  take_peak();
  grown_ = true;
  observe();
}

void device_state::before_event(const trace::event& head) {
  observe();
  const auto& wanted = run_.wanted;
  if (wanted.at && head.number > *wanted.at && !at_.is_set()) {
    mark(at_, *wanted.at, time_ns_, allocator_.allocated(), during_);
  }
  const auto& boundaries = wanted.inferred_boundaries;
  while (boundaries_passed_ < boundaries.size() && boundaries[boundaries_passed_] <= head.number) {
    auto end = end_at(head);
    end.event = boundaries[boundaries_passed_++];
    inferred_steps_.boundary(end);
  }
}

void device_state::take_peak() {
  if (allocator_.peaks() == peaks_seen_) return;
  peaks_seen_ = allocator_.peaks();
  const auto& moment = allocator_.peak_allocated();
  mark(peak_, moment.event, moment.time_ns, moment.totals.allocated, during_);
}

void device_state::observe() {
  if (!std::exchange(grown_, false)) return;
  const auto total = allocator_.allocated();
  user_steps_.observe(event_, during_, total);
  optimizer_steps_.observe(event_, during_, total);
  if (!run_.wanted.inferred_boundaries.empty()) inferred_steps_.observe(event_, during_, total);
  observe_named(total);
  auto& highest = phases_[during_].highest;
  if (total > highest.moment().total) mark(highest, event_, time_ns_, total, during_);
}

void device_state::observe_named(std::uint64_t total) {
  for (const auto number : named_now_) {
    auto& named = named_[number];
    if (total <= named.peak) continue;
    named.peak = total;
    named.peak_event = event_;
  }
}

void device_state::count_named(const trace::event& head, std::uint64_t allocated,
                               std::uint64_t freed) {
  if (!run_.named.any()) return;
  const auto open = run_.named.open_at(head.thread, run_.phases.in_backward(head));
  if (named_.size() < run_.named.names().size()) named_.resize(run_.named.names().size());
  for (const auto number : open) {
    named_[number].allocated += allocated;
    named_[number].freed += freed;
  }
  if (allocated != 0) named_now_.assign(open.begin(), open.end());
}

void device_state::allocate(const trace::event& head, std::uint64_t address, std::uint64_t bytes,
                            trace::stack_id stack) {
  const auto made = begun_by(head, bytes, stack);
  run_.softmaxes.on_allocation(head.scope);
  if ((head.scope.flags & format::scope_recompute) != 0) run_.recomputed.insert(head.scope.root);
  if (blocks_.find(address) != nullptr) free(head, address, {});  // its free was not recorded
  auto& block = blocks_.add(address);
  block = made;
  block.address = address;
  count_named(head, bytes, 0);
  if (auto* const lives = run_.wanted.lives) lives->born(index_, block);
  auto& sums = phases_[block.born.during];
  sums.seen = true;
  sums.allocated += bytes;
  grown_ = true;
  latest_ = address;
  event_ = head.number;
  time_ns_ = head.time_ns;
  during_ = block.born.during;
}

void device_state::refuse(const trace::event& head, std::uint64_t bytes, trace::stack_id stack) {
  const auto asked_for = begun_by(head, bytes, stack);
  if (auto* const lives = run_.wanted.lives) lives->refused(index_, asked_for);
}

block_life device_state::begun_by(const trace::event& head, std::uint64_t bytes,
                                  trace::stack_id stack) {
  const auto& marks = run_.marks[stack];
  block_life block;
  block.bytes = bytes;
  block.born_event = head.number;
  block.stack = stack;
  block.thread = head.thread;
  block.scope = head.scope;
  block.born = run_.phases.at_allocation(head, marks);
  block.born.captured = allocator_.graphs().is_capturing();
  if ((marks.any & mark::unsharding) != 0) block.roles |= gathered_parameter;
  if ((marks.any & mark::stage_buffer) != 0) block.roles |= received_by_stage;
  return block;
}

void device_state::report(const trace::report_event& record) {
  auto* const block = blocks_.find(record.address);
  if (record.block_bytes > 0 && block != nullptr && record.address == latest_) {
    const auto difference = static_cast<std::uint64_t>(record.block_bytes) - block->bytes;
    block->bytes += difference;
    if (auto* const lives = run_.wanted.lives) lives->resized(index_, *block, difference);
    phases_[block->born.during].allocated += difference;
    for (const auto number : named_now_) named_[number].allocated += difference;
  }
  follow_sleep();
  take_peak();
  observe();
}

void device_state::free(const trace::event& head, std::uint64_t address, trace::stack_id stack) {
  const auto place = run_.phases.at_free(head, run_.marks[stack]);
  const auto* const block = blocks_.find(address);
  if (block == nullptr) return;
  life_end how;
  how.in_backward = run_.phases.in_backward(head);
  how.call_running = run_.phases.call_runs(block->thread, block->born.call);
  how.passes = place.passes;
  how.during = place.during;
  end(*block, how);
  phases_[place.during].freed += block->bytes;
  count_named(head, 0, block->bytes);
  if (asleep_.erase(address) != 0) asleep_changed_ = true;
  blocks_.remove(address);
}

void device_state::end(const block_life& block, const life_end& how) {
  bool wanted = peak_.wants(block) || at_.wants(block);
  for (const auto& sums : phases_.values) wanted = wanted || sums.highest.wants(block);
  auto* const lives = run_.wanted.lives;
  const bool observed = lives != nullptr && lives->ended(index_, block, how);
  const bool told = block.roles != 0 || block.saved.times != 0;
  if (!wanted && !told && !observed) return;
  const auto found = judge({block, how, run_.marks[block.stack], run_.knowledge});
  const bool has_place = (run_.marks[block.stack].any & mark::was_there) == 0;
  if (has_place && (found.how == evidence::annotated || found.what == category::collected ||
                    found.what == category::kv_cache || found.what == category::other)) {
    run_.known.learn(place_of(block), found.what);
  }
  if (observed) lives->judged(index_, block, how, found);
  if (!wanted) return;
  const auto kept = keep(block, found);
  if (peak_.wants(block)) peak_.keep(kept);
  if (at_.wants(block)) at_.keep(kept);
  for (auto& sums : phases_.values) {
    if (sums.highest.wants(block)) sums.highest.keep(kept);
  }
}

void device_state::finish() {
  observe();
  take_peak();
  if (run_.wanted.at && !at_.is_set()) {
    mark(at_, *run_.wanted.at, time_ns_, allocator_.allocated(), during_);
  }
  blocks_.for_each([&](const block_life& block) { end(block, how_it_lives(block)); });
}

life_end device_state::how_it_lives(const block_life& block) const {
  life_end how;
  how.alive = true;
  how.call_running = run_.phases.call_runs(block.thread, block.born.call);
  how.passes = run_.phases.passes();
  how.during = during_;
  return how;
}

void device_state::add_living(watch& to) const {
  blocks_.for_each([&](const block_life& block) {
    if (!to.wants(block)) return;
    to.keep(
        keep(block, judge({block, how_it_lives(block), run_.marks[block.stack], run_.knowledge})));
  });
}

watch device_state::now() const {
  watch moment;
  mark(moment, std::numeric_limits<std::uint64_t>::max(), time_ns_, allocator_.allocated(),
       during_);
  add_living(moment);
  return moment;
}

watch device_state::peak_so_far() const {
  auto moment = peak_;
  add_living(moment);
  return moment;
}

const step_series* device_state::marked_steps() const {
  if (!user_steps_.empty()) return &user_steps_;
  return optimizer_steps_.empty() ? nullptr : &optimizer_steps_;
}

step_boundary device_state::boundary() const {
  if (!user_steps_.empty()) return step_boundary::user;
  return optimizer_steps_.empty() ? step_boundary::none : step_boundary::optimizer;
}

steps_found device_state::steps() {
  if (!user_steps_.empty()) return user_steps_.finish(step_boundary::user);
  if (!optimizer_steps_.empty()) return optimizer_steps_.finish(step_boundary::optimizer);
  return inferred_steps_.finish(step_boundary::inferred);
}

}  // namespace memtrace::attribution
