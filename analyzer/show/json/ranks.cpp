// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/parts.h"

#include "analyzer/show/terminal/parts.h"

namespace memtrace::as_json {

namespace {

[[nodiscard]] json devices_of(const ranks::rank_row& row) {
  auto devices = json::array();
  for (const auto& device : row.process->devices) {
    devices.push_back({{"index", device.facts.device},
                       {"name", text_or_null(device.name)},
                       {"peak_allocated_bytes", device.peak_allocated.totals.allocated},
                       {"peak_reserved_bytes", or_null(device.reserved())},
                       {"used_bytes", device.used ? json(device.used->used) : json(nullptr)},
                       {"outside_bytes", or_null(ranks::outside_bytes(device))}});
  }
  return devices;
}

[[nodiscard]] json row_json(const ranks::rank_row& row) {
  const auto& run = row.process->run;
  return {{"rank", or_null(run.rank)},
          {"local_rank", or_null(run.local_rank)},
          {"world_size", or_null(run.world_size)},
          {"host", text_or_null(run.host)},
          {"pid", run.pid},
          {"trace", row.process->path},
          {"attempt", row.attempt},
          {"device", row.device == nullptr ? json(nullptr) : json(row.device->facts.device)},
          {"devices", devices_of(row)},
          {"steps", row.steps},
          {"growth_bytes_per_step", row.growth},
          {"ran_out_of_memory", row.out_of_memory},
          {"clean_exit", row.process->completeness.clean_exit}};
}

[[nodiscard]] json difference_json(const ranks::ranks_found& found,
                                   const ranks::rank_difference& one) {
  const auto& row = found.rows[one.row];
  auto lines = json::array();
  for (const auto& line : one.lines) {
    lines.push_back({{"where", line.where},
                     {"category", words_of(line.what)},
                     {"bytes", line.bytes},
                     {"usual_bytes", line.usual_bytes}});
  }
  return {{"rank", or_null(row.process->run.rank)},
          {"pid", row.process->run.pid},
          {"host", text_or_null(row.process->run.host)},
          {"attempt", row.attempt},
          {"measure", name_of(one.measure)},
          {"value", one.value},
          {"usual", one.usual},
          {"compared_ranks", one.compared},
          {"distance", or_null(one.distance)},
          {"lines", std::move(lines)},
          {"sentence", one.sentence}};
}

[[nodiscard]] json shared_json(const ranks::ranks_found& found, const ranks::shared_row& one) {
  const auto& by = found.rows[one.row].process->run;
  json owner = nullptr;
  if (one.owner) {
    const auto& run = found.rows[*one.owner].process->run;
    owner = {{"rank", or_null(run.rank)}, {"pid", run.pid}, {"host", text_or_null(run.host)}};
  }
  return {
      {"opened_by", {{"rank", or_null(by.rank)}, {"pid", by.pid}, {"host", text_or_null(by.host)}}},
      {"owner", std::move(owner)},
      {"device", one.device},
      {"bytes", one.bytes},
      {"allocations", one.pieces},
      {"allocations_of_unknown_size", one.pieces_of_unknown}};
}

}  // namespace

void add_ranks_json(const ranks::ranks_found& found, json& document) {
  auto& rows = document["ranks"] = json::array();
  for (const auto& row : found.rows) rows.push_back(row_json(row));
  auto& differences = document["rank_differences"] = json::array();
  for (const auto& one : found.differences) differences.push_back(difference_json(found, one));
  auto& shared = document["shared_memory"] = json::array();
  for (const auto& one : found.shared) shared.push_back(shared_json(found, one));
  document["missing_ranks"] = found.missing;
  document["played_ranks"] = found.played;
}

}  // namespace memtrace::as_json
