// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/host/samples.h"

#include <algorithm>
#include <utility>

#include "analyzer/model/device/usage_collector.h"

namespace memtrace::host {

namespace {

namespace host = format::host;

constexpr std::size_t most_samples = 8192;
constexpr std::size_t most_workers = 100'000;  // of which each is named once
constexpr std::size_t most_names = 4096;

[[nodiscard]] std::uint64_t as_bytes(double value) {
  constexpr double most = 1e18;
  return value > 0 && value < most ? static_cast<std::uint64_t>(value) : 0;
}

}  // namespace

void sampled_series::add(sample taken) {
  peak_ = std::max(peak_, taken.bytes);
  last_ = taken.bytes;
  if (taken_++ % stride_ != 0) return;
  samples_.push_back(taken);
  if (samples_.size() < most_samples) return;
  for (std::size_t i = 0; 2 * i < samples_.size(); ++i) samples_[i] = samples_[2 * i];
  samples_.resize((samples_.size() + 1) / 2);
  stride_ *= 2;
}

host_collector::known_name host_collector::understand(std::string_view name) {
  constexpr std::pair<std::string_view, meaning> all[] = {
      {host::resident, meaning::resident},
      {host::kept, meaning::kept},
      {host::heap_free, meaning::heap_free},
      {host::proportional, meaning::proportional},
      {host::highest, meaning::peak},
      {host::workers, meaning::workers},
      {host::workers_proportional, meaning::workers_proportional},
      {host::workers_kept, meaning::workers_kept},
      {host::worker, meaning::worker},
      {host::worker_proportional, meaning::worker_proportional},
      {host::limit, meaning::limit},
      {host::limit_used, meaning::limit_used},
      {host::limit_from, meaning::limit_from},
  };
  for (const auto& [text, what] : all) {
    if (name == text) return {what, 0};
  }
  const auto of_device = device::parse_counter(name);
  if (!of_device) return {};
  constexpr std::pair<std::string_view, meaning> suffixes[] = {
      {host::device_used_suffix, meaning::device_used},
      {host::device_own_suffix, meaning::device_own},
      {host::device_context_suffix, meaning::device_context},
      {host::device_others_suffix, meaning::device_others},
  };
  for (const auto& [suffix, what] : suffixes) {
    if (of_device->suffix == suffix) return {what, of_device->device};
  }
  return {};
}

// By the call's device: a call seldom frees what another device has.
void host_collector::on_cuda_call(const trace::event& head, const trace::cuda_call_event&) {
  const auto* const calls = replayed_.driver().device(head.device);
  if (calls == nullptr) return;
  for (const auto& [owner, held] : calls->owners) {
    if (!owner.known) continue;
    auto& last = owners_[{head.device, owner}];
    if (last.bytes == held.bytes) continue;
    auto& series = found_.by_owner[{head.device, device::owner_name(owner, names_)}];
    // Between two changes nothing happens: a step, not a slope.
    if (head.time_ns > last.time_ns + 1) series.add({head.time_ns - 1, last.bytes});
    last = {head.time_ns, held.bytes};
    series.add(last);
  }
}

void host_collector::on_counter(const trace::event& head, const trace::counter_event& record) {
  auto known = known_.find(record.name.value);
  if (known == known_.end()) {
    if (known_.size() >= most_names) return;
    known = known_.emplace(record.name.value, understand(names_[record.name])).first;
  }
  take(known->second, {head.time_ns, as_bytes(record.value)});
}

void host_collector::take(const known_name& name, sample taken) {
  switch (name.what) {
    case meaning::none:
      return;
    case meaning::resident:
      return found_.resident.add(taken);
    case meaning::kept:
      return found_.kept.add(taken);
    case meaning::heap_free:
      return found_.heap_free.add(taken);
    case meaning::proportional:
      latest_proportional_ = taken.bytes;
      return;
    case meaning::peak:
      found_.peak = taken.bytes;
      return;
    case meaning::workers:
      return found_.workers.add(taken);
    case meaning::workers_proportional:
      found_.together.add({taken.time_ns, latest_proportional_ + taken.bytes});
      return found_.workers_proportional.add(taken);
    case meaning::workers_kept:
      return found_.workers_kept.add(taken);
    case meaning::worker:
      latest_worker_ = taken.bytes;
      return;
    case meaning::worker_proportional: {
      if (found_.by_worker.size() >= most_workers) return;
      auto& worker = found_.by_worker[latest_worker_];
      worker.process = latest_worker_;
      worker.peak = std::max(worker.peak, taken.bytes);
      return;
    }
    case meaning::limit:
      found_.limit = taken.bytes;
      return;
    case meaning::limit_used:
      return found_.limit_used.add(taken);
    case meaning::limit_from:
      found_.limit_from = static_cast<host::limit_source>(taken.bytes);
      return;
    case meaning::device_context:
      return found_.by_owner[{name.device, device::part_name::context}].add(taken);
    case meaning::device_others:
      // Whether they grow is no question to this program's recording.
      if (others_.try_emplace(name.device, taken.bytes).first->second != taken.bytes) {
        found_.shared.insert(name.device);
      }
      return;
    case meaning::device_used:
      return take_outside(found_.outside[name.device], pool_before_[name.device], name.device,
                          taken);
    case meaning::device_own:
      return take_outside(found_.own_outside[name.device], pool_before_own_[name.device],
                          name.device, taken);
  }
}

void host_collector::take_outside(sampled_series& to, std::uint64_t& before, std::uint32_t device,
                                  sample taken) {
  const auto* const known = replayed_.device(device);
  const auto pool = known == nullptr ? 0 : known->allocator.totals().reserved;
  // Without a pool that is known, what lies outside of it is not known either.
  if (pool == 0 || std::exchange(before, pool) != pool) return;
  to.add({taken.time_ns, taken.bytes - std::min(taken.bytes, pool)});
}

}  // namespace memtrace::host
