// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/utf8.h"
#include "memtrace/capabilities.h"
#include "memtrace/environment.h"

namespace memtrace::run {

namespace {

namespace key = format::info_key;

[[nodiscard]] std::vector<std::string> split_command(std::string_view arguments) {
  std::vector<std::string> parts;
  while (!arguments.empty()) {
    const auto end = std::min(arguments.find('\0'), arguments.size());
    parts.emplace_back(arguments.substr(0, end));
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
  return parts;
}

// 13000 → 13.0, as cudaRuntimeGetVersion counts.
[[nodiscard]] std::string cuda_version(const std::string& number) {
  const auto value = text::number_in(number);
  return value ? fmt::format("{}.{}", *value / 1000, *value % 1000 / 10) : std::string();
}

[[nodiscard]] std::optional<recording_facts> build_recording(const replay::replayer& replayed) {
  recording_facts made;
  made.mode = replayed.info(key::mode);
  if (!recording_mode_named(made.mode)) return std::nullopt;
  std::istringstream names(replayed.info(key::capabilities));
  for (std::string name; names >> name;) made.capabilities.push_back(name);
  for (const std::string& one : replayed.refused()) {
    const auto colon = std::min(one.find(": "), one.size());
    made.refused.emplace_back(one.substr(0, colon), one.substr(std::min(colon + 2, one.size())));
  }
  return made;
}

[[nodiscard]] std::optional<snapshot_facts> build_snapshot(const replay::replayer& replayed) {
  const auto source = replayed.info(key::source);
  const bool of_profiler = source == "profiler_trace";
  if (!of_profiler && source != "pytorch_snapshot") return std::nullopt;
  const auto number = [&](const char* name) {
    return text::number_in(replayed.info(name)).value_or(0);
  };
  snapshot_facts made;
  made.of_profiler = of_profiler;
  made.history = replayed.info(key::snapshot_history);
  made.held = number(key::snapshot_held);
  made.stacks = replayed.info(key::snapshot_stacks);
  made.backward = replayed.info(key::snapshot_backward);
  made.times = replayed.info(key::snapshot_times) == "yes";
  made.agrees = replayed.info(key::snapshot_end) == "equal";
  made.contradictions = number(key::snapshot_contradictions);
  made.skipped = number(key::snapshot_skipped);
  return made;
}

[[nodiscard]] run_facts build_run(const format::file_header& header,
                                  const trace::completeness& completeness,
                                  const replay::replayer& replayed) {
  const auto info = [&](const char* name) { return replayed.info(name); };
  run_facts run;
  run.command = split_command(replayed.info(key::command));
  run.pid = header.process_id;
  run.rank = text::number_in(info(key::rank));
  run.local_rank = text::number_in(info(key::local_rank));
  run.world_size = text::number_in(info(key::world_size));
  run.host = info(key::host);
  run.started_ns = header.start_realtime_ns;
  run.duration_ns = completeness.end_time_ns;
  run.torch = info(key::torch);
  run.cuda = cuda_version(info(key::cuda_runtime));
  run.python = info(key::python);
  run.alloc_conf = replayed.settings().empty() ? info(key::alloc_conf) : replayed.settings();
  run.simulated_gpu = info(key::simulated);
  run.python_stacks = info(key::python_stacks);
  run.event_source = info(key::event_source);
  run.agent = info(key::agent);
  run.autograd = info(key::autograd);
  run.recording = build_recording(replayed);
  run.snapshot = build_snapshot(replayed);
  for (const auto& [name, value] : replayed.infos(format::environment_prefix)) {
    run.environment.emplace_back(name, value);
  }
  return run;
}

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
  made.peak_allocated.totals.allocated = direct.peak_bytes;
  made.at_peak = unattributed(names, direct.sites.at_peak(), made.peak_allocated);
  for (const auto& site : made.at_peak.sites) made.peak_allocated.totals.blocks += site.blocks;
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

[[nodiscard]] device_report build_device(const trace::dictionary& names,
                                         const replay::device_record& device,
                                         const replay::device_holdings* direct,
                                         const attribution::device_result* attributed) {
  const auto& allocator = device.allocator;
  device_report made;
  made.facts = device.facts;
  made.name = names[device.facts.name];
  made.events = device.events;
  made.peak_allocated = allocator.peak_allocated();
  made.peak_reserved = allocator.peak_reserved();
  if (attributed != nullptr) use_attribution(names, *attributed, made);
  if (device.events == 0 && direct != nullptr) use_cuda_calls(names, *direct, made);
  made.outside = build_outside(device);
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
    made.capacity = device->facts.total_bytes;
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

const oom_report* decisive_oom(const process_report& process) {
  if (process.ooms.empty()) return nullptr;
  const auto fatal =
      std::ranges::find_if(process.ooms, [](const auto& oom) { return !oom.facts.caught; });
  return fatal == process.ooms.end() ? &process.ooms.front() : &*fatal;
}

bool ran_out(const process_report& process, std::uint32_t device) {
  return std::ranges::any_of(process.ooms, [&](const oom_report& oom) {
    return oom.facts.device == device && !oom.facts.caught;
  });
}

const std::vector<code::source_frame>& frames_at(const process_report& process,
                                                 trace::stack_id stack) {
  static const std::vector<code::source_frame> none;
  const auto found = process.verdict_frames.find(stack);
  return found == process.verdict_frames.end() ? none : found->second;
}

const fragmentation::diagnosis* fragmentation_of(const process_report& process,
                                                 std::uint32_t device) {
  const auto found =
      std::ranges::find(process.fragmentation, device, &fragmentation::diagnosis::device);
  return found == process.fragmentation.end() ? nullptr : &*found;
}

void use_device_sums(std::map<std::uint32_t, device::usage> found, process_report& to) {
  for (auto& one : to.devices) {
    const auto known = found.find(one.facts.device);
    if (known == found.end()) continue;
    one.outside.clear();
    for (const auto& part : known->second.parts) {
      if (device::is_pytorch_pool(part)) continue;
      one.outside.push_back({part.name, part.bytes, part.peak, part.how});
    }
    one.used = std::move(known->second);
  }
}

process_report build_process(const std::string& path, const trace::reader& reader,
                             const trace::completeness& completeness,
                             const replay::replayer& replayed,
                             const attribution::result& attributed) {
  process_report made;
  made.path = text::valid_utf8(path);
  made.run = build_run(reader.header(), completeness, replayed);
  // The totals of a snapshot's events are worked out and not the allocator's own.
  const bool told = !made.run.snapshot;
  made.completeness = completeness;
  made.stacks = replayed.stacks();
  for (const auto& [index, device] : replayed.devices()) {
    const auto found = attributed.devices.find(index);
    made.devices.push_back(
        build_device(reader.names(), *device, replayed.driver().device(index),
                     found == attributed.devices.end() ? nullptr : &found->second));
    made.devices.back().checked = made.devices.back().checked && told;
    // Its segments are not known: what is reserved differs from theirs throughout.
    if (made.run.snapshot && made.run.snapshot->of_profiler) made.devices.back().mismatches = 0;
  }
  for (const auto& oom : replayed.ooms()) {
    made.ooms.push_back(build_oom(reader.names(), replayed, oom, made.devices));
  }
  made.warnings = replayed.warnings();
  made.unknown_entry_points = replayed.unknown().all();
  made.training = build_training(attributed);
  made.pinned_peak = replayed.driver().pinned_peak();
  return made;
}

}  // namespace memtrace::run
