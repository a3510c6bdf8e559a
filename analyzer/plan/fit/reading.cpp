// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/reading.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/base/text/numbers.h"
#include "analyzer/judge/host/samples.h"
#include "analyzer/model/allocator/compile.h"
#include "analyzer/model/attribution/attributor.h"
#include "analyzer/model/device/usage_collector.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/observers.h"
#include "memtrace/trace_format.h"

namespace memtrace::fit {

// Behind the attributor, which knows where steps end.
class step_watch final : public trace::record_visitor {
 public:
  step_watch(const replay::replayer& replayed, const attribution::attributor& attributed)
      : replayed_(replayed), attributed_(attributed) {}

  void on_step(const trace::event&, const trace::step_event&) override { look(); }
  void on_phase(const trace::event&, const trace::phase_event& record) override {
    if (record.source == format::phase_source::backward) went_backward_ = true;
    look();
  }
  void on_allocator(const trace::event& head, const trace::allocator_event& record) override {
    using format::kind;
    if (record.kind == kind::alloc || record.kind == kind::oom) ++allocations_[head.device];
  }
  void on_cuda_call(const trace::event& head, const trace::cuda_call_event&) override {
    auto& most = most_by_calls_[head.device];
    most = std::max(most, replayed_.driver().on_device(head.device));
  }

  [[nodiscard]] const settle& steps() const { return steps_; }
  [[nodiscard]] bool went_backward() const { return went_backward_; }
  // The most that CUDA calls held at once, PyTorch's pool included.
  [[nodiscard]] std::uint64_t most_by_calls(std::uint32_t device) const {
    const auto found = most_by_calls_.find(device);
    return found == most_by_calls_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::vector<std::size_t> step_ends(std::uint32_t device) const {
    const auto found = step_ends_.find(device);
    return found == step_ends_.end() ? std::vector<std::size_t>() : found->second;
  }

 private:
  void look() {
    std::uint64_t count = 0;
    for (const auto& [index, device] : replayed_.devices()) {
      count = std::max(count, attributed_.steps(index).count);
    }
    if (count <= steps_.steps()) return;
    step_peak peaks;
    for (const auto& [index, device] : replayed_.devices()) {
      peaks.allocated += device->allocator.peak_allocated().totals.allocated;
      peaks.reserved += device->allocator.peak_reserved().totals.reserved;
      const auto all = replayed_.driver().on_device(index);
      const auto pool = device->allocator.totals().reserved;
      most_outside_ = std::max(most_outside_, all - std::min(all, pool));
    }
    peaks.outside = most_outside_;
    while (steps_.steps() < count) {
      steps_.end_step(peaks);
      for (const auto& [index, made] : allocations_) step_ends_[index].push_back(made);
    }
  }

  const replay::replayer& replayed_;
  const attribution::attributor& attributed_;
  bool went_backward_ = false;
  std::map<std::uint32_t, std::uint64_t> most_by_calls_;  // by device
  std::uint64_t most_outside_ = 0;
  std::map<std::uint32_t, std::size_t> allocations_;             // by device
  std::map<std::uint32_t, std::vector<std::size_t>> step_ends_;  // the same, as each step ended
  settle steps_;
};

// The context of this process, and of others where they were not told apart.
[[nodiscard]] static std::uint64_t context_of(const device::usage& seen) {
  std::uint64_t found = 0;
  for (const auto& one : seen.parts) {
    if (one.name == device::part_name::context || one.name == device::part_name::context_and_others)
      found += one.bytes;
  }
  return found;
}

struct reading::state {
  explicit state(const trace::dictionary& of)
      : names(of),
        replayed(names),
        attributed(names, replayed),
        requests(names, allocator::kept_answers::of_driver),
        usage(names, replayed),
        hosts(names, replayed),
        steps(replayed, attributed),
        all(attributed, requests, usage, hosts, steps) {}

  const trace::dictionary& names;
  replay::replayer replayed;
  attribution::attributor attributed;
  allocator::compiler requests;
  device::usage_collector usage;
  host::host_collector hosts;
  step_watch steps;
  trace::observers<attribution::attributor, allocator::compiler, device::usage_collector,
                   host::host_collector, step_watch>
      all;
};

reading::reading(const trace::dictionary& names) : state_(std::make_unique<state>(names)) {}

reading::~reading() = default;

trace::record_visitor& reading::visitor() {
  return state_->all;
}

const settle& reading::steps() const {
  return state_->steps.steps();
}

bool reading::uses_a_device() const {
  return std::ranges::any_of(state_->replayed.devices(),
                             [](const auto& one) { return one.second->events != 0; });
}

bool reading::ran_out() const {
  return !state_->replayed.ooms().empty();
}

bool reading::went_on_after() const {
  return ran_out() && state_->replayed.ooms().front().caught;
}

std::vector<code::unknown_size> reading::unknown_sizes() const {
  return code::unknown_sizes(state_->names, state_->replayed.unknown_reads());
}

bool reading::went_backward() const {
  return state_->steps.went_backward();
}

std::optional<refusal> reading::refused() const {
  if (!ran_out()) return std::nullopt;
  const auto& first = state_->replayed.ooms().front();
  return refusal{first.device, first.requested, first.device_free, first.totals.allocated,
                 first.totals.reserved};
}

host_use reading::host() const {
  const auto& found = state_->hosts.found();
  host_use made;
  made.together = std::max(found.together.peak(), found.resident.peak());
  made.workers = found.workers.peak();
  made.looked_at = std::min<std::uint64_t>(made.workers, found.by_worker.size());
  for (const auto& [process, worker] : found.by_worker) {
    made.worker_peak = std::max(made.worker_peak, worker.peak);
  }
  made.pinned = state_->replayed.driver().pinned_peak();
  made.limit = found.limit.value_or(0);
  return made;
}

std::vector<device_use> reading::finish(std::uint64_t process) {
  auto logs = state_->requests.finish();
  auto used = state_->usage.finish();
  state_->replayed.finish();
  const auto rank = text::number_in(state_->replayed.info(format::info_key::rank));
  std::vector<device_use> found;
  for (const auto& [index, device] : state_->replayed.devices()) {
    const auto on_device = state_->replayed.driver().on_device(index);
    if (device->events == 0 && on_device == 0) continue;
    device_use one;
    one.process = process;
    one.rank = rank;
    one.device = index;
    one.peak_allocated = device->allocator.peak_allocated().totals.allocated;
    one.peak_reserved = device->allocator.peak_reserved().totals.reserved;
    one.total = device->facts.total_bytes;
    one.retries = device->retries;
    const auto place_used = used.find(index);
    if (place_used != used.end()) one.used = place_used->second.used;
    // The driver is asked a few times a second: its highest answer may be from before the peak.
    one.used =
        std::max(one.used, state_->steps.most_by_calls(index) +
                               (place_used == used.end() ? 0 : context_of(place_used->second)));
    one.used = std::max(one.used, one.peak_reserved);
    if (const auto place = logs.find(index); place != logs.end())
      one.log = std::move(place->second);
    one.step_ends = state_->steps.step_ends(index);
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace memtrace::fit
