// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/audit.h"

#include <algorithm>

#include "analyzer/show/json/values.h"

namespace memtrace::audit {

namespace {

using as_json::json;

[[nodiscard]] const char* name_of(agreement of) {
  switch (of) {
    case agreement::same:
      return "same";
    case agreement::different:
      return "different";
    case agreement::nothing:
      return "nothing_compared";
    case agreement::no_witness:
      break;
  }
  return "no_witness";
}

[[nodiscard]] const char* name_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::pinned:
      return "pinned";
    case memory_kind::device:
      return "device";
    case memory_kind::managed:
      return "managed";
    default:
      return "other";
  }
}

// Times before the trace was created are told as 0.
[[nodiscard]] std::int64_t since_start(std::int64_t ns) {
  return std::max<std::int64_t>(ns, 0);
}

[[nodiscard]] json sighting_json(const sighting& seen) {
  return {{"operation", seen.is_release ? "release" : "allocation"},
          {"address", seen.address},
          {"bytes", seen.bytes},
          {"time_ns", since_start(seen.time_ns)},
          {"device", seen.device},
          {"event", seen.event}};
}

[[nodiscard]] json by_hooks(const finding& one) {
  auto made = sighting_json(one.seen);
  made["api"] = one.api;
  made["owner"] = one.seen.has_owner ? json(one.owner) : json(nullptr);
  made["frames"] = as_json::frames_json(one.frames);
  return made;
}

[[nodiscard]] json by_cupti(const finding& one) {
  auto made = sighting_json(one.seen);
  made["kind"] = name_of(one.seen.kind);
  made["correlation"] = one.seen.correlation;
  return made;
}

template <typename Make>
[[nodiscard]] json list(const std::vector<finding>& findings, Make make) {
  auto made = json::array();
  for (const auto& one : findings) made.push_back(make(one));
  return made;
}

[[nodiscard]] json totals_json(const totals& sum) {
  return {
      {"allocations", sum.allocations}, {"releases", sum.releases}, {"allocated_bytes", sum.bytes}};
}

[[nodiscard]] json others_json(const std::map<std::string, not_compared>& kinds) {
  auto made = json::array();
  for (const auto& [what, sum] : kinds) {
    made.push_back({{"what", what}, {"count", sum.count}, {"bytes", sum.bytes}});
  }
  return made;
}

[[nodiscard]] json devices_json(const trace_audit& audit) {
  auto made = json::array();
  for (const auto& [index, device] : audit.told.devices) {
    made.push_back({{"index", index},
                    {"busy_ns", device.busy_ns},
                    {"idle_ns", device.idle_ns()},
                    {"kernels", device.kernels},
                    {"migrated_to_device_bytes", device.migrated_in},
                    {"migrated_to_host_bytes", device.migrated_out},
                    {"page_fault_groups", device.faults}});
  }
  return made;
}

[[nodiscard]] json witness_json(const trace_audit& audit) {
  const auto& told = audit.told;
  if (!told.has_witness) {
    return {{"listened", false},
            {"reason", told.reason.empty() ? json(nullptr) : json(told.reason)}};
  }
  return {{"listened", true},
          {"cupti_version", told.version},
          {"begin_ns", since_start(told.begin_ns)},
          {"listened_ns", audit.listened_ns},
          {"ended", told.end_ns.has_value()},
          {"reason", told.reason.empty() ? json(nullptr) : json(told.reason)},
          {"lost_records", told.lost},
          {"unreadable_records", told.unreadable}};
}

[[nodiscard]] json trace_json(const trace_audit& audit) {
  json made = {{"trace", audit.path},
               {"pid", audit.pid},
               {"verdict", name_of(audit.verdict)},
               {"witness", witness_json(audit)}};
  if (!audit.told.has_witness) return made;
  made["both"] = {{"allocations", audit.allocations},
                  {"releases", audit.releases},
                  {"allocated_bytes", audit.bytes}};
  made["hooks"] = totals_json(audit.ours);
  made["cupti"] = totals_json(audit.theirs);
  made["missed_by_cupti"] = list(audit.missed_by_cupti, by_hooks);
  made["missed_by_hooks"] = list(audit.missed_by_hooks, by_cupti);
  made["other_size"] = list(audit.other_size, [](const finding& one) {
    auto both = by_hooks(one);
    both["cupti_bytes"] = one.other_bytes;
    return both;
  });
  made["not_compared"] = {{"outside", audit.outside},
                          {"at_the_edge", audit.at_the_edge},
                          {"only_hooks", others_json(audit.told.only_hooks)},
                          {"only_cupti", others_json(audit.told.only_cupti)}};
  made["pools"] = {
      {"hooks", {{"made", audit.told.pools_made[0]}, {"destroyed", audit.told.pools_destroyed[0]}}},
      {"cupti",
       {{"made", audit.told.pools_made[1]}, {"destroyed", audit.told.pools_destroyed[1]}}}};
  made["devices"] = devices_json(audit);
  return made;
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<trace_audit>& traces) {
  auto list = json::array();
  auto worst = agreement::same;
  for (const auto& one : traces) {
    list.push_back(trace_json(one));
    worst = std::max(worst, one.verdict);
  }
  const json made = {{"schema", "memtrace-audit/1"}, {"verdict", name_of(worst)}, {"traces", list}};
  return made;
}

}  // namespace memtrace::audit
