// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/parts.h"

#include <algorithm>

namespace memtrace::as_json {

namespace {

using format::host::limit_source;
using host::host_samples;
using host::sampled_series;

constexpr std::size_t most_values = 64;

[[nodiscard]] const char* name_of(limit_source from) {
  switch (from) {
    case limit_source::machine:
      return "machine";
    case limit_source::cgroup_v2:
      return "cgroup_v2";
    case limit_source::cgroup_v1:
      return "cgroup_v1";
    case limit_source::address_space:
      return "address_space";
    case limit_source::data:
      return "data";
  }
  return "unknown";
}

// The one with the least room at its worst: all processes of a run are mostly in one container.
[[nodiscard]] const host_samples* nearest_limit(const run::run_report& processes) {
  const host_samples* nearest = nullptr;
  const auto room = [](const host_samples& of) {
    return *of.limit - std::min(*of.limit, of.limit_used.peak());
  };
  for (const auto& process : processes) {
    if (!process.host.limit) continue;
    if (nearest == nullptr || room(process.host) < room(*nearest)) nearest = &process.host;
  }
  return nearest;
}

void add_series(json& all, const run::process_report& process, const char* name,
                const sampled_series& series) {
  const auto& samples = series.samples();
  if (samples.empty()) return;
  const auto stride = (samples.size() + most_values - 1) / most_values;
  auto times = json::array();
  auto bytes = json::array();
  for (std::size_t i = 0; i < samples.size(); i += stride) {
    times.push_back(samples[i].time_ns);
    bytes.push_back(samples[i].bytes);
  }
  all.push_back({{"pid", process.run.pid},
                 {"name", name},
                 {"times_ns", std::move(times)},
                 {"bytes", std::move(bytes)}});
}

[[nodiscard]] bool is_traced(const run::run_report& processes, std::uint64_t pid) {
  return std::ranges::any_of(processes,
                             [&](const run::process_report& one) { return one.run.pid == pid; });
}

}  // namespace

json host_json(const run::run_report& processes) {
  json made = {{"limit_bytes", nullptr},           {"limit_source", nullptr},
               {"limit_used_peak_bytes", nullptr}, {"peak_bytes", nullptr},
               {"pinned_peak_bytes", 0},           {"workers", json::array()},
               {"series", json::array()}};
  std::uint64_t pinned = 0;
  std::uint64_t peak = 0;
  for (const auto& process : processes) {
    const auto& host = process.host;
    pinned += process.pinned_peak;
    peak += std::max({host.peak, host.resident.peak(), host.together.peak()});
    for (const auto& [pid, worker] : host.by_worker) {
      if (is_traced(processes, pid)) continue;
      made["workers"].push_back({{"pid", pid}, {"peak_pss_bytes", worker.peak}});
    }
    add_series(made["series"], process, "process", host.resident);
    add_series(made["series"], process, "workers", host.workers_proportional);
    add_series(made["series"], process, "limit_used", host.limit_used);
  }
  made["pinned_peak_bytes"] = pinned;
  made["pinned"] = pinned_json(processes);
  if (peak != 0) made["peak_bytes"] = peak;
  if (const auto* const limit = nearest_limit(processes); limit != nullptr) {
    made["limit_bytes"] = *limit->limit;
    if (limit->limit_from) made["limit_source"] = name_of(*limit->limit_from);
    made["limit_used_peak_bytes"] = limit->limit_used.peak();
  }
  return made;
}

}  // namespace memtrace::as_json
