// SPDX-License-Identifier: Apache-2.0
//
// The devices: what PyTorch's allocator held on each and for whom, and where memory ran out.
#include <algorithm>
#include <string>

#include "analyzer/run/model/keeping_lines.h"
#include "analyzer/run/model/parts.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

// Call sites of which nothing is known but that they hold memory.
[[nodiscard]] memory_view unattributed(const trace::dictionary& names,
                                       const std::vector<replay::site_holding>& held,
                                       const replay::moment& when) {
  attribution::composition all;
  all.event = when.event;
  all.time_ns = when.time_ns;
  all.total = when.totals.allocated;
  for (const auto& holder : held) {
    attribution::block_group group;
    group.site = holder.site;
    group.held = {holder.held.bytes, holder.held.blocks};
    all.groups.push_back(group);
  }
  return view_of(names, all);
}

[[nodiscard]] std::vector<outside_holder> build_outside(const replay::device_record& device) {
  std::vector<outside_holder> outside;
  const auto& facts = device.facts;
  if (facts.free_before_first_segment != 0 && facts.free_before_first_segment < facts.total_bytes) {
    outside.push_back({device::part_name::context_and_others,
                       facts.total_bytes - facts.free_before_first_segment,
                       {},
                       device::source::difference});
  }
  const auto reserved = device.allocator.peak_allocated().totals.reserved;
  if (device.driver_at_peak > reserved) {
    outside.push_back(
        {device::part_name::calls, device.driver_at_peak - reserved, {}, device::source::measured});
  }
  return outside;
}

void use_cuda_calls(const trace::dictionary& names, const replay::device_holdings& direct,
                    device_report& made) {
  made.from_cuda_calls = true;
  made.peak_allocated.event = direct.peak.number;
  made.peak_allocated.time_ns = direct.peak.time_ns;
  made.peak_allocated.totals = {};
  made.peak_allocated.totals.allocated = direct.peak_bytes;
  made.at_peak = unattributed(names, direct.sites.at_peak(), made.peak_allocated);
  for (const auto& site : made.at_peak.sites) made.peak_allocated.totals.blocks += site.blocks;
  made.never_freed = unattributed(names, direct.sites.now(), made.peak_allocated).sites;
  if (made.never_freed.empty()) return;
  const keeping_lines keeping(names, direct.sites);
  for (auto& site : made.never_freed) site.keeps_from = keeping.first_of(site.frames);
}

[[nodiscard]] std::vector<phase_report> build_phases(
    const trace::dictionary& names,
    const attribution::by_phase<attribution::phase_result>& phases) {
  std::vector<phase_report> made;
  for (std::size_t i = 0; i < attribution::phase_count; ++i) {
    const auto which = static_cast<attribution::phase>(i);
    const auto& found = phases[which];
    if (!found.seen) continue;
    made.push_back({which, found.allocated, found.freed, view_of(names, found.at_peak)});
  }
  return made;
}

void use_attribution(const trace::dictionary& names, const attribution::device_result& found,
                     device_report& made) {
  made.at_peak = view_of(names, found.at_peak);
  if (found.at.exists()) made.at = view_of(names, found.at);
  made.phases = build_phases(names, found.phases);
  for (const auto& one : found.named_phases) {
    made.named_phases.push_back({std::string(names[one.name]), one});
  }
  made.parameters = found.parameters;
  made.steps = found.steps;
  for (const auto& place : found.fp32_under_autocast) {
    fp32_place row;
    if (place.site.is_thread) {
      row.thread = names[names[trace::thread_id{place.site.number}].name];
    } else {
      row.frames = code::frames_of(names, trace::stack_id{place.site.number});
    }
    if (place.module < made.at_peak.modules.size()) {
      row.module = made.at_peak.modules[place.module].path;
    }
    row.bytes = place.held.bytes;
    made.fp32_under_autocast.push_back(std::move(row));
  }
}

[[nodiscard]] captured_graphs build_graphs(const trace::dictionary& names,
                                           const replay::graph_pools& graphs) {
  constexpr std::size_t most = 256;
  captured_graphs made;
  made.count = graphs.count();
  std::vector<trace::pool_id> pools;
  for (const auto& one : graphs.captures()) {
    made.added += one.added;
    const auto known = std::ranges::find(pools, one.pool);
    const auto pool = static_cast<std::uint64_t>(known - pools.begin());
    if (known == pools.end()) pools.push_back(one.pool);
    if (made.all.size() == most) continue;
    auto frames = code::frames_of(names, one.stack);
    auto place = code::short_place(frames, std::string(names[names[one.thread].name]));
    made.all.push_back({one, pool, std::move(frames), std::move(place)});
  }
  made.pools = pools.size();
  return made;
}

[[nodiscard]] std::optional<sleep_report> build_sleep(const trace::dictionary& names,
                                                      const replay::device_record& device,
                                                      const replay::device_holdings* calls) {
  const auto& allocator = device.allocator;
  if (allocator.sleep().most == 0) return std::nullopt;
  sleep_report made;
  made.facts = allocator.sleep();
  replay::moment when;
  when.event = made.facts.event;
  when.time_ns = made.facts.time_ns;
  when.totals.allocated = made.facts.most;
  made.sites = unattributed(names, allocator.most_asleep(), when).sites;
  for (const auto& site : made.sites) made.blocks += site.blocks;
  made.at_end = allocator.totals().asleep;
  const auto& facts = device.facts;
  if (calls != nullptr && facts.free_before_first_segment != 0) {
    made.used_at_end = calls->bytes + facts.total_bytes -
                       std::min(facts.total_bytes, facts.free_before_first_segment);
  }
  return made;
}

[[nodiscard]] device_report build_device(const trace::dictionary& names,
                                         const replay::device_record& device,
                                         const replay::device_holdings* direct,
                                         const attribution::device_result* attributed,
                                         bool has_blocks_of_calls) {
  const auto& allocator = device.allocator;
  device_report made;
  made.facts = device.facts;
  made.allowed = device.allowed();
  made.name = names[device.facts.name];
  made.events = device.events;
  made.peak_allocated = allocator.peak_allocated();
  made.peak_reserved = allocator.peak_reserved();
  if (attributed != nullptr) use_attribution(names, *attributed, made);
  if (direct != nullptr && (device.events == 0 || has_blocks_of_calls)) {
    use_cuda_calls(names, *direct, made);
  }
  made.outside = build_outside(device);
  made.graphs = build_graphs(names, allocator.graphs());
  made.asleep = build_sleep(names, device, direct);
  made.retries = device.retries;
  made.mismatches = allocator.mismatches();
  made.unknown_frees = allocator.unknown_frees();
  made.checked = allocator.reports() != 0;
  return made;
}

[[nodiscard]] oom_report build_oom(const trace::dictionary& names, const replay::replayer& replayed,
                                   const replay::out_of_memory& oom,
                                   const std::vector<device_report>& devices) {
  oom_report made;
  made.facts = oom;
  const auto* const device = replayed.device(oom.device);
  if (device != nullptr && device->facts.total_bytes != 0) {
    made.capacity = oom.allowed.value_or(device->facts.total_bytes);
  }
  made.frames = code::frames_of(names, oom.stack);
  made.forward = code::frames_of(names, oom.forward);
  made.thread = names[names[oom.thread].name];
  const auto same = std::ranges::find_if(devices, [&](const device_report& one) {
    return one.facts.device == oom.device && one.at && one.at->event == oom.event;
  });
  if (same != devices.end()) made.held = same->at;
  const replay::moment when{oom.event, oom.time_ns, oom.totals};
  made.holders = made.held ? made.held->sites : unattributed(names, oom.holders, when).sites;
  return made;
}

[[nodiscard]] training_report build_training(const attribution::result& found) {
  training_report made;
  made.autocast = found.autocast;
  made.checkpointed = found.checkpointed;
  made.parameters = found.parameters;
  made.parameter_bytes = found.parameter_bytes;
  made.trainable_bytes = found.trainable_bytes;
  return made;
}

}  // namespace

void add_devices(const trace::dictionary& names, const replay::replayer& replayed,
                 const attribution::result& attributed, bool has_blocks_of_calls,
                 process_report& to) {
  // The totals of a snapshot's events are worked out and not the allocator's own.
  const bool told = !to.run.snapshot;
  for (const auto& [index, device] : replayed.devices()) {
    const auto found = attributed.devices.find(index);
    auto& made = to.devices.emplace_back(build_device(
        names, *device, replayed.driver().device(index),
        found == attributed.devices.end() ? nullptr : &found->second, has_blocks_of_calls));
    made.checked = made.checked && told;
    // Its segments are not known: what is reserved differs from theirs throughout.
    if (to.run.snapshot && to.run.snapshot->of_profiler) made.mismatches = 0;
  }
  for (const auto& oom : replayed.ooms()) {
    to.ooms.push_back(build_oom(names, replayed, oom, to.devices));
  }
  for (const auto& one : replayed.outside_refusals()) {
    if (one.caught || to.outside_refusal) continue;
    to.outside_refusal = {one, std::string(names[one.library]), code::frames_of(names, one.stack)};
  }
  to.training = build_training(attributed);
  to.pinned_peak = replayed.driver().pinned_peak();
}

void add_device_use(std::map<std::uint32_t, device::usage> used,
                    const std::map<std::uint32_t, device::device_activity>& activity,
                    process_report& to) {
  for (auto& one : to.devices) {
    const auto index = one.facts.device;
    if (const auto busy = activity.find(index); busy != activity.end()) one.activity = busy->second;
    const auto known = used.find(index);
    if (known == used.end()) continue;
    one.outside.clear();
    for (const auto& part : known->second.parts) {
      if (device::is_pytorch_pool(part)) continue;
      one.outside.push_back({part.name, part.bytes, part.peak, part.how});
    }
    one.used = std::move(known->second);
  }
}

}  // namespace memtrace::run
