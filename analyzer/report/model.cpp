// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "analyzer/report/json_text.h"

namespace memtrace::report {

namespace {

namespace key = format::info_key;

[[nodiscard]] std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[nodiscard]] std::vector<std::string> split_command(std::string_view arguments) {
  std::vector<std::string> parts;
  while (!arguments.empty()) {
    const auto end = std::min(arguments.find('\0'), arguments.size());
    parts.push_back(valid_utf8(arguments.substr(0, end)));
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
  return parts;
}

// 13000 → 13.0, as cudaRuntimeGetVersion counts.
[[nodiscard]] std::string cuda_version(const std::string& number) {
  const auto value = number_in(number);
  return value ? fmt::format("{}.{}", *value / 1000, *value % 1000 / 10) : std::string();
}

[[nodiscard]] run_facts build_run(const format::file_header& header,
                                  const trace::completeness& completeness,
                                  const replay::replayer& replayed) {
  const auto info = [&](const char* name) { return valid_utf8(replayed.info(name)); };
  run_facts run;
  run.command = split_command(replayed.info(key::command));
  run.pid = header.process_id;
  run.rank = number_in(info(key::rank));
  run.local_rank = number_in(info(key::local_rank));
  run.world_size = number_in(info(key::world_size));
  run.host = info(key::host);
  run.started_ns = header.start_realtime_ns;
  run.duration_ns = completeness.end_time_ns;
  run.torch = info(key::torch);
  run.cuda = cuda_version(info(key::cuda_runtime));
  run.python = info(key::python);
  run.alloc_conf =
      replayed.settings().empty() ? info(key::alloc_conf) : valid_utf8(replayed.settings());
  run.simulated_gpu = info(key::simulated);
  run.python_stacks = info(key::python_stacks);
  run.event_source = info(key::event_source);
  return run;
}

// A report holds so many frames in all, far above any real run's, so that no trace can fill the
// memory: the smallest call sites beyond are summed up.
constexpr std::uint64_t most_frames = 1u << 20;

[[nodiscard]] call_site build_site(const trace::dictionary& names,
                                   const replay::site_holding& holder) {
  call_site made;
  if (holder.site.is_thread) {
    made.thread = valid_utf8(names[names[trace::thread_id{holder.site.number}].name]);
  } else {
    made.frames = frames_of(names, trace::stack_id{holder.site.number});
  }
  made.bytes = holder.held.bytes;
  made.blocks = holder.held.blocks;
  return made;
}

[[nodiscard]] std::vector<call_site> build_sites(const trace::dictionary& names,
                                                 std::vector<replay::site_holding> held) {
  std::ranges::stable_sort(held, std::greater(),
                           [](const replay::site_holding& holder) { return holder.held.bytes; });
  std::vector<call_site> sites;
  call_site rest;
  rest.sites = 0;
  std::uint64_t frames = 0;
  for (const auto& holder : held) {
    if (frames < most_frames) {
      sites.push_back(build_site(names, holder));
      frames += sites.back().frames.size() + 1;
    } else {
      rest.bytes += holder.held.bytes;
      rest.blocks += holder.held.blocks;
      ++rest.sites;
    }
  }
  if (rest.sites != 0) sites.push_back(std::move(rest));
  return sites;
}

[[nodiscard]] std::vector<outside_holder> build_outside(const replay::device_record& device) {
  std::vector<outside_holder> outside;
  const auto& facts = device.facts;
  if (facts.free_before_first_segment != 0 && facts.free_before_first_segment < facts.total_bytes) {
    outside.push_back({"CUDA context and other processes, before PyTorch's first segment",
                       facts.total_bytes - facts.free_before_first_segment});
  }
  const auto reserved = device.allocator.peak_allocated().totals.reserved;
  if (device.driver_at_peak > reserved) {
    outside.push_back({"CUDA allocations of this process outside PyTorch's caching allocator",
                       device.driver_at_peak - reserved});
  }
  return outside;
}

void use_cuda_calls(const trace::dictionary& names, const replay::direct_memory& direct,
                    device_report& made) {
  made.from_cuda_calls = true;
  made.peak_allocated.event = direct.peak.number;
  made.peak_allocated.time_ns = direct.peak.time_ns;
  made.peak_allocated.totals.allocated = direct.peak_bytes;
  made.at_peak = build_sites(names, direct.sites.at_peak());
  for (const auto& site : made.at_peak) made.peak_allocated.totals.blocks += site.blocks;
}

[[nodiscard]] device_report build_device(const trace::dictionary& names,
                                         const replay::device_record& device,
                                         const replay::direct_memory* direct) {
  const auto& allocator = device.allocator;
  device_report made;
  made.facts = device.facts;
  made.name = valid_utf8(names[device.facts.name]);
  made.events = device.events;
  made.peak_allocated = allocator.peak_allocated();
  made.peak_reserved = allocator.peak_reserved();
  made.at_peak = build_sites(names, allocator.sites().at_peak());
  if (device.events == 0 && direct != nullptr) use_cuda_calls(names, *direct, made);
  std::uint64_t attributed = 0;
  for (const auto& site : made.at_peak) attributed += site.bytes;
  const auto peak = made.peak_allocated.totals.allocated;
  made.unattributed_bytes = peak > attributed ? peak - attributed : 0;
  made.outside = build_outside(device);
  made.retries = device.retries;
  made.mismatches = allocator.mismatches();
  made.unknown_frees = allocator.unknown_frees();
  made.checked = allocator.reports() != 0;
  return made;
}

[[nodiscard]] oom_report build_oom(const trace::dictionary& names, const replay::replayer& replayed,
                                   const replay::out_of_memory& oom) {
  oom_report made;
  made.facts = oom;
  const auto* const device = replayed.device(oom.device);
  if (device != nullptr && device->facts.total_bytes != 0) {
    made.capacity = device->facts.total_bytes;
  }
  made.frames = frames_of(names, oom.stack);
  made.thread = valid_utf8(names[names[oom.thread].name]);
  made.holders = build_sites(names, oom.holders);
  return made;
}

}  // namespace

process_report build_process(const std::string& path, const trace::reader& reader,
                             const trace::completeness& completeness,
                             const replay::replayer& replayed) {
  process_report made;
  made.path = valid_utf8(path);
  made.run = build_run(reader.header(), completeness, replayed);
  made.completeness = completeness;
  made.stacks = replayed.stacks();
  for (const auto& [index, device] : replayed.devices()) {
    made.devices.push_back(build_device(reader.names(), *device, replayed.driver().device(index)));
  }
  for (const auto& oom : replayed.ooms()) {
    made.ooms.push_back(build_oom(reader.names(), replayed, oom));
  }
  for (const auto& warning : replayed.warnings()) made.warnings.push_back(valid_utf8(warning));
  made.pinned_peak = replayed.driver().pinned_peak();
  return made;
}

}  // namespace memtrace::report
