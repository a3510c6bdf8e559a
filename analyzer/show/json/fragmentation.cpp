// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/parts.h"

#include <array>

#include "analyzer/base/text/utf8.h"
#include "analyzer/judge/fragmentation/diagnosis.h"

namespace memtrace::as_json {

namespace {

using fragmentation::bytes_by_reason;
using fragmentation::diagnosis;
using fragmentation::reason;

[[nodiscard]] json parts_json(const bytes_by_reason& parts) {
  auto made = json::object();
  for (std::size_t i = 0; i < fragmentation::reasons; ++i) {
    made[name_of(static_cast<reason>(i))] = parts.bytes[i];
  }
  return made;
}

[[nodiscard]] json moment_json(const fragmentation::moment& at) {
  return {{"event", at.event},
          {"reserved_bytes", at.reserved},
          {"allocated_bytes", at.allocated},
          {"graph_pool_bytes", at.graph_pools},
          {"unused_bytes", at.unused.total()},
          {"unused", parts_json(at.unused)}};
}

[[nodiscard]] json explained_json(const std::optional<fragmentation::explained_moment>& moment) {
  if (!moment) return nullptr;
  auto made = moment_json(moment->at);
  made["used_again"] = parts_json(moment->used_again);
  made["rounding"] = {{"requested_bytes", moment->requested},
                      {"multiples_bytes", moment->inside.multiples},
                      {"tails_bytes", moment->inside.tails}};
  made["request_bytes"] = moment->request;
  made["largest_free_block_bytes"] = moment->largest_piece;
  made["frames"] = frames_json(moment->frames);
  return made;
}

[[nodiscard]] json sites_json(const std::vector<fragmentation::pinning_site>& sites) {
  auto made = json::array();
  for (const auto& site : sites) {
    made.push_back({{"frames", frames_json(site.frames)},
                    {"bytes", site.bytes},
                    {"blocks", site.blocks},
                    {"block_bytes", site.block_bytes},
                    {"category", name_of(site.what)}});
  }
  return made;
}

[[nodiscard]] json blocked_json(const fragmentation::blocked_requests& blocked) {
  auto largest = json::array();
  for (const auto& one : blocked.largest) {
    largest.push_back({{"event", one.event},
                       {"bytes", one.bytes},
                       {"free_bytes", one.free},
                       {"largest_free_block_bytes", one.largest},
                       {"out_of_memory", one.out_of_memory},
                       {"frames", frames_json(one.frames)}});
  }
  return {{"count", blocked.count},
          {"looked_at", blocked.looked_at},
          {"of", blocked.of},
          {"reserved_bytes", blocked.got},
          {"largest", std::move(largest)}};
}

[[nodiscard]] json pressure_json(const fragmentation::pressure& found) {
  return {{"retries", found.retries},
          {"retry_ns", found.retry_ns},
          {"collections", found.collections},
          {"collection_ns", found.collection_ns},
          {"segments_freed", found.segments_freed},
          {"bytes_freed", found.bytes_freed},
          {"segments_got", found.segments_got},
          {"bytes_got", found.bytes_got},
          {"driver_calls", found.driver_calls}};
}

[[nodiscard]] json map_json(const fragmentation::heap_map& map) {
  auto segments = json::array();
  for (const auto& segment : map.segments) {
    segments.push_back({{"address", segment.address},
                        {"bytes", segment.bytes},
                        {"stream", segment.stream},
                        {"private_pool", segment.private_pool},
                        {"small", segment.small},
                        {"expandable", segment.expandable},
                        {"blocks", segment.blocks}});
  }
  return {{"when", map.when},
          {"event", map.event},
          {"sites", map.sites},
          {"merged", map.merged},
          {"segments_left_out", map.segments_left_out},
          {"bytes_left_out", map.bytes_left_out},
          {"segments", std::move(segments)}};
}

[[nodiscard]] json diagnosis_json(const run::process_report& process, const diagnosis& found) {
  const bool measured = found.lower_bound_active != 0;
  auto over_time = json::array();
  for (const auto& moment : found.over_time) over_time.push_back(moment_json(moment));
  auto maps = json::array();
  for (const auto& map : found.maps) maps.push_back(map_json(map));
  return {{"device", found.device},
          {"pid", process.run.pid},
          {"peak_reserved_bytes", found.peak_reserved},
          {"peak_allocated_bytes", found.peak_allocated},
          {"lower_bound_bytes", measured ? json(found.lower_bound) : json(nullptr)},
          {"lower_bound_active_bytes", measured ? json(found.lower_bound_active) : json(nullptr)},
          {"cause", name_of(found.why)},
          {"matters", found.matters},
          {"summary", text_or_null(found.summary)},
          {"inexact", text_or_null(found.inexact)},
          {"at_peak", explained_json(found.at_peak)},
          {"at_out_of_memory", explained_json(found.out_of_memory)},
          {"over_time", std::move(over_time)},
          {"pinning_sites", sites_json(found.pinning)},
          {"blocked_requests", blocked_json(found.blocked)},
          {"pressure", pressure_json(found.pressure)},
          {"maps", std::move(maps)}};
}

}  // namespace

void add_fragmentation_json(const run::process_report& process, json& all) {
  for (const auto& found : process.fragmentation) all.push_back(diagnosis_json(process, found));
}

json pinned_json(const run::run_report& processes) {
  fragmentation::pinned_host sum;
  auto sites = json::array();
  for (const auto& process : processes) {
    const auto& pinned = process.pinned;
    sum.peak += pinned.peak;
    sum.buffers += pinned.buffers;
    sum.powers_of_two += pinned.powers_of_two;
    sum.rounding_at_most += pinned.rounding_at_most;
    if (pinned.rounding_estimated) {
      sum.rounding_estimated = sum.rounding_estimated.value_or(0) + *pinned.rounding_estimated;
    }
    for (const auto& site : pinned.sites) {
      sites.push_back({{"pid", process.run.pid},
                       {"frames", frames_json(site.frames)},
                       {"bytes", site.bytes},
                       {"buffers", site.buffers}});
    }
  }
  return {{"bytes", sum.peak},
          {"buffers", sum.buffers},
          {"powers_of_two_bytes", sum.powers_of_two},
          {"rounding_at_most_bytes", sum.rounding_at_most},
          {"rounding_estimated_bytes",
           sum.rounding_estimated ? json(*sum.rounding_estimated) : json(nullptr)},
          {"sites", std::move(sites)}};
}

}  // namespace memtrace::as_json
