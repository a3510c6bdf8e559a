// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/report.h"

#include <algorithm>

#include "analyzer/run/model/headline.h"
#include "analyzer/show/json/parts.h"

namespace memtrace::as_json {

namespace {

[[nodiscard]] json unused_json(const replay::device_totals& totals) {
  using replay::unused_reason;
  const auto bytes = [&](unused_reason why) {
    return totals.unused[static_cast<std::size_t>(why)];
  };
  return {{"empty_segments_bytes", bytes(unused_reason::empty_segments)},
          {"split_segments_bytes", bytes(unused_reason::split_segments)},
          {"expandable_segments_bytes", bytes(unused_reason::expandable)},
          {"private_pools_bytes", bytes(unused_reason::private_pools)},
          {"pending_free_bytes", totals.pending}};
}

[[nodiscard]] json moment_json(const replay::moment& moment) {
  return {{"event", moment.event},
          {"time_ns", moment.time_ns},
          {"allocated_bytes", moment.totals.allocated},
          {"reserved_bytes", moment.totals.reserved},
          {"requested_bytes", moment.totals.requested},
          {"graph_pool_bytes", moment.totals.graph_pools},
          {"asleep_bytes", moment.totals.asleep},
          {"unused", unused_json(moment.totals)}};
}

[[nodiscard]] json graphs_json(const run::captured_graphs& graphs) {
  auto captures = json::array();
  for (const auto& one : graphs.all) {
    captures.push_back({{"event", one.facts.event},
                        {"end_event", one.facts.end_event},
                        {"time_ns", one.facts.time_ns},
                        {"pool", one.pool},
                        {"added_bytes", one.facts.added},
                        {"most_in_use_bytes", one.facts.most},
                        {"frames", frames_json(one.frames)}});
  }
  return {{"count", graphs.count},
          {"pools", graphs.pools},
          {"added_bytes", graphs.added},
          {"captures", std::move(captures)}};
}

[[nodiscard]] json recording_json(const std::optional<run::recording_facts>& recording) {
  if (!recording) return nullptr;
  auto refused = json::array();
  for (const auto& [capability, reason] : recording->refused) {
    refused.push_back({{"capability", capability}, {"reason", reason}});
  }
  return {
      {"mode", recording->mode}, {"capabilities", recording->capabilities}, {"refused", refused}};
}

[[nodiscard]] json unknown_sizes_json(const std::vector<code::unknown_size>& sizes) {
  json made = json::array();
  for (const auto& one : sizes)
    made.push_back({{"operation", one.operation}, {"place", one.place}});
  return made;
}

[[nodiscard]] const char* source_of(const run::run_facts& run) {
  if (!run.snapshot) return "recording";
  return run.snapshot->of_profiler ? "profiler_trace" : "pytorch_snapshot";
}

[[nodiscard]] json snapshot_json(const std::optional<run::snapshot_facts>& snapshot) {
  if (!snapshot) return nullptr;
  return {{"history", snapshot->history},
          {"allocated_before_bytes", snapshot->held},
          {"stacks", snapshot->stacks},
          {"backward_known_by", text_or_null(snapshot->backward)},
          {"has_times", snapshot->times},
          {"events_lead_to_segments", snapshot->agrees},
          {"contradictions", snapshot->contradictions},
          {"skipped_events", snapshot->skipped}};
}

[[nodiscard]] json run_json(const run::run_facts& run) {
  auto environment = json::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;
  return {{"command", run.command},
          {"pid", run.pid},
          {"rank", or_null(run.rank)},
          {"local_rank", or_null(run.local_rank)},
          {"world_size", or_null(run.world_size)},
          {"host", text_or_null(run.host)},
          {"started_ns", run.started_ns},
          {"duration_ns", run.duration_ns},
          {"exit_status", or_null(run.exit_status)},
          {"torch", text_or_null(run.torch)},
          {"cuda", text_or_null(run.cuda)},
          {"python", text_or_null(run.python)},
          {"alloc_conf", text_or_null(run.alloc_conf)},
          {"settings_without_effect", run.settings_without_effect},
          {"simulated", !run.simulated_gpu.empty()},
          {"simulated_gpu", text_or_null(run.simulated_gpu)},
          {"python_stacks", text_or_null(run.python_stacks)},
          {"event_source", text_or_null(run.event_source)},
          {"source", source_of(run)},
          {"snapshot", snapshot_json(run.snapshot)},
          {"agent", text_or_null(run.agent)},
          {"autograd", text_or_null(run.autograd)},
          {"recording", recording_json(run.recording)},
          {"environment", environment}};
}

[[nodiscard]] const char* reason_name(format::drop_reason reason) {
  switch (reason) {
    case format::drop_reason::none:
      return nullptr;
    case format::drop_reason::disk_full:
      return "disk_full";
    case format::drop_reason::io_error:
      return "io_error";
    case format::drop_reason::out_of_memory:
      return "out_of_memory";
    case format::drop_reason::internal:
      return "internal";
    case format::drop_reason::slow_disk:
      return "slow_disk";
  }
  return "unknown";
}

[[nodiscard]] json damage_json(const trace::status& damage) {
  if (!damage) return nullptr;
  return {{"code", trace::name_of(damage->code)},
          {"offset", damage->offset},
          {"message", damage->message}};
}

[[nodiscard]] json unknown_entry_points_json(const run::process_report& process) {
  auto all = json::array();
  for (const auto& one : process.unknown_entry_points) {
    all.push_back({{"name", one.name},
                   {"cuda_version", one.cuda_version == 0 ? json(nullptr) : json(one.cuda_version)},
                   {"another", one.is_another}});
  }
  return all;
}

[[nodiscard]] json gaps_json(const std::vector<trace::gap>& gaps) {
  auto all = json::array();
  for (const auto& one : gaps) {
    all.push_back({{"events", one.events}, {"begin_ns", one.begin_ns}, {"end_ns", one.end_ns}});
  }
  return all;
}

[[nodiscard]] json completeness_json(const run::process_report& process) {
  const auto& facts = process.completeness;
  const char* const reason = reason_name(facts.dropped_because);
  std::uint64_t mismatches = 0;
  std::uint64_t unknown_frees = 0;
  for (const auto& device : process.devices) {
    mismatches += device.mismatches;
    unknown_frees += device.unknown_frees;
  }
  return {{"events", facts.events},
          {"dropped_events", facts.dropped_events},
          {"dropped_because", reason == nullptr ? json(nullptr) : json(reason)},
          {"gaps", gaps_json(facts.gaps)},
          {"truncated", facts.truncated},
          {"clean_exit", facts.clean_exit},
          {"missing_blocks", facts.missing_blocks},
          {"missing_events", facts.missing_events},
          {"allocated_before_bytes", or_null(process.run.allocated_before)},
          {"unknown_sizes", unknown_sizes_json(process.run.unknown_sizes)},
          {"allocations", process.stacks.allocations},
          {"backward_allocations", process.stacks.backward},
          {"unresolved_stacks", process.stacks.unresolved},
          {"total_mismatches", mismatches},
          {"unknown_frees", unknown_frees},
          {"unknown_entry_points", unknown_entry_points_json(process)},
          {"damage", damage_json(facts.damage)},
          {"messages", process.warnings}};
}

// Sums, and the worst of what is not a number.
[[nodiscard]] json completeness_of_run(const run::run_report& processes) {
  auto total = completeness_json(processes.front());
  for (std::size_t i = 1; i < processes.size(); ++i) {
    const auto one = completeness_json(processes[i]);
    for (auto& [name, value] : total.items()) {
      if (value.is_number()) value = value.get<std::uint64_t>() + one[name].get<std::uint64_t>();
      if (value.is_null()) value = one[name];
    }
    total["truncated"] = total["truncated"].get<bool>() || one["truncated"].get<bool>();
    total["clean_exit"] = total["clean_exit"].get<bool>() && one["clean_exit"].get<bool>();
    for (const char* const list : {"gaps", "messages"}) {
      for (const auto& entry : one[list]) total[list].push_back(entry);
    }
    auto& unknown = total["unknown_entry_points"];
    for (const auto& entry : one["unknown_entry_points"]) {
      if (std::find(unknown.begin(), unknown.end(), entry) == unknown.end()) {
        unknown.push_back(entry);
      }
    }
  }
  return total;
}

[[nodiscard]] json activity_json(const run::device_report& device) {
  if (!device.activity) return nullptr;
  const auto& [busy, kernels, in, out, faults, listened] = *device.activity;
  return {{"listened_ns", listened},
          {"busy_ns", busy},
          {"idle_ns", device.activity->idle_ns()},
          {"kernels", kernels},
          {"migrated_to_device_bytes", in},
          {"migrated_to_host_bytes", out},
          {"page_fault_groups", faults}};
}

[[nodiscard]] json used_json(const run::device_report& device) {
  if (!device.used) return nullptr;
  auto parts = json::array();
  for (const auto& one : device.used->parts) {
    parts.push_back({{"part", one.name},
                     {"bytes", one.bytes},
                     {"evidence", memtrace::device::name_of(one.how)}});
  }
  return {{"event", device.used->event},
          {"time_ns", device.used->time_ns},
          {"used_bytes", device.used->used},
          {"parts", parts}};
}

[[nodiscard]] json asleep_json(const run::device_report& device) {
  if (!device.asleep) return nullptr;
  const auto& found = *device.asleep;
  return {{"event", found.facts.event},      {"time_ns", found.facts.time_ns},
          {"bytes", found.facts.most},       {"blocks", found.blocks},
          {"times", found.facts.times},      {"at_end_bytes", found.at_end},
          {"sites", sites_json(found.sites)}};
}

[[nodiscard]] json device_json(const run::process_report& process, const run::device_report& device,
                               bool with_blocks) {
  auto outside = json::array();
  for (const auto& holder : device.outside) {
    outside.push_back({{"owner", holder.owner},
                       {"bytes", holder.bytes},
                       {"peak_bytes", or_null(holder.peak)},
                       {"evidence", memtrace::device::name_of(holder.how)}});
  }
  const auto& peak = device.peak_allocated;
  const auto capacity = device.facts.total_bytes;
  auto at_peak = memory_json(device.at_peak, with_blocks);
  at_peak["parameters"] = parameters_json(device.parameters);
  at_peak["fp32_under_autocast"] = fp32_json(device.fp32_under_autocast);
  return {{"index", device.facts.device},
          {"pid", process.run.pid},
          {"rank", or_null(process.run.rank)},
          {"host", text_or_null(process.run.host)},
          {"name", text_or_null(device.name)},
          {"capacity_bytes", capacity == 0 ? json(nullptr) : json(capacity)},
          {"peak_allocated_bytes", peak.totals.allocated},
          {"peak_allocated_event", peak.event},
          {"peak_reserved_bytes", or_null(device.reserved())},
          {"at_peak", at_peak},
          {"at_moment", device.at ? memory_json(*device.at, with_blocks) : json(nullptr)},
          {"peak_source", device.from_cuda_calls ? "cuda_calls" : "allocator"},
          {"never_freed", device.from_cuda_calls ? sites_json(device.never_freed) : json(nullptr)},
          {"peak_allocated", device.from_cuda_calls ? json(nullptr) : moment_json(peak)},
          {"peak_reserved", device.reserved() ? moment_json(device.peak_reserved) : json(nullptr)},
          {"graphs", graphs_json(device.graphs)},
          {"retries", device.retries},
          {"outside_pool", outside},
          {"asleep", asleep_json(device)},
          {"used", used_json(device)},
          {"activity", activity_json(device)},
          {"unexplained_bytes", device.used ? json(device.used->unexplained) : json(nullptr)},
          {"expected", expected_json(process, device)},
          {"room", room_json(process, device)},
          {"phases", phases_json(device)}};
}

[[nodiscard]] json oom_json(const run::process_report& process, const run::oom_report& oom) {
  const auto& facts = oom.facts;
  const auto if_known = [&](std::uint64_t bytes) {
    return facts.has_layout ? json(bytes) : json(nullptr);
  };
  return {{"device", facts.device},
          {"pid", process.run.pid},
          {"event", facts.event},
          {"time_ns", facts.time_ns},
          {"requested_bytes", facts.requested},
          {"free_bytes", facts.device_free},
          {"largest_free_block_bytes", if_known(facts.free.overall)},
          {"largest_usable_free_block_bytes", if_known(facts.free.usable)},
          {"reserved_bytes", facts.totals.reserved},
          {"allocated_bytes", facts.totals.allocated},
          {"capacity_bytes", or_null(oom.capacity)},
          {"graph_pool_bytes", facts.totals.graph_pools},
          {"unused", unused_json(facts.totals)},
          {"frames", frames_json(oom.frames)},
          {"thread", text_or_null(oom.thread)},
          {"caught", facts.caught},
          {"holders", sites_json(oom.holders)},
          {"retained_by", retainers_json(oom.retained_by)},
          {"fix", fix_json(oom.fix)}};
}

[[nodiscard]] json refusal_json(const run::process_report& process,
                                const run::outside_refusal_report& what) {
  return {{"device", what.facts.device},
          {"pid", process.run.pid},
          {"time_ns", what.facts.time_ns},
          {"requested_bytes", what.facts.requested},
          {"library", text_or_null(what.library)},
          {"reserved_bytes", what.facts.totals.reserved},
          {"allocated_bytes", what.facts.totals.allocated},
          {"graph_pool_bytes", what.facts.totals.graph_pools},
          {"unused", unused_json(what.facts.totals)},
          {"frames", frames_json(what.frames)}};
}

[[nodiscard]] json headline_json(const run::headline& what) {
  return {{"state", run::name_of(what.what)},
          {"text", run::text_of(what)},
          {"device", or_null(what.device)}};
}

}  // namespace

json to_json(const run::run_report& processes, bool with_blocks) {
  json document = {{"schema", "memtrace-report/1"},
                   {"headline", headline_json(run::headline_of(processes))},
                   {"run", run_json(processes.front().run)},
                   {"processes", json::array()},
                   {"completeness", completeness_of_run(processes)},
                   {"steps", steps_json(processes)},
                   {"devices", json::array()},
                   {"verdicts", json::array()},
                   {"fragmentation", json::array()},
                   {"oom", json::array()},
                   {"refused_outside", json::array()}};
  for (const auto& process : processes) {
    document["processes"].push_back({{"trace", process.path},
                                     {"headline", headline_json(process.answer)},
                                     {"run", run_json(process.run)},
                                     {"training", training_json(process.training)},
                                     {"counters", counters_json(process.counters)},
                                     {"expectations", expectations_json(process)},
                                     {"completeness", completeness_json(process)}});
    for (const auto& device : process.devices) {
      document["devices"].push_back(device_json(process, device, with_blocks));
    }
    add_verdicts_json(process, document["verdicts"]);
    add_fragmentation_json(process, document["fragmentation"]);
    for (const auto& oom : process.ooms) document["oom"].push_back(oom_json(process, oom));
    if (process.outside_refusal) {
      document["refused_outside"].push_back(refusal_json(process, *process.outside_refusal));
    }
  }
  document["advice"] = advice_json(processes);
  document["advice_combined"] = combined_advice_json(processes);
  document["advice_limits"] = advice_limits_json(processes);
  document["host"] = host_json(processes);
  add_ranks_json(ranks::find_ranks(processes), document);
  return document;
}

}  // namespace memtrace::as_json
