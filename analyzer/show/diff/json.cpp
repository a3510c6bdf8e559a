// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/diff.h"

#include "analyzer/run/model/headline.h"
#include "analyzer/show/json/values.h"

namespace memtrace::diff {

namespace {

using as_json::json;
using as_json::or_null;

[[nodiscard]] json verdict_json(const verdicts::verdict* one) {
  if (one == nullptr) return nullptr;
  const bool known = one->found.shape != growth::shape::unknown;
  return {{"answer", name_of(verdicts::answer_of(*one))},
          {"shape", growth::name_of(one->found.shape)},
          {"unit", one->unit},
          {"bytes_per_step", known ? json(one->bytes_per_step) : json(nullptr)},
          {"confidence", known ? json(one->found.confidence) : json(nullptr)},
          {"negligible", one->found.negligible},
          {"steps_to_oom", or_null(one->steps_to_oom)},
          {"time_to_oom_ns", or_null(one->ns_to_oom)},
          {"summary", one->summary}};
}

[[nodiscard]] json verdicts_json(const std::vector<verdict_pair>& pairs) {
  auto list = json::array();
  for (const auto& pair : pairs) {
    list.push_back({{"subject", pair.subject},
                    {"before", verdict_json(pair.before)},
                    {"after", verdict_json(pair.after)}});
  }
  return list;
}

[[nodiscard]] json growing_json(const std::vector<growing_line>& rows) {
  auto list = json::array();
  for (const auto& row : rows) {
    list.push_back({{"name", row.name},
                    {"name_before", as_json::text_or_null(row.name_before)},
                    {"kept_by", as_json::text_or_null(row.kept_by)},
                    {"before_bytes_per_step", row.before},
                    {"after_bytes_per_step", row.after}});
  }
  return list;
}

[[nodiscard]] json habits_json(const run::run_report& run) {
  auto list = json::array();
  for (const auto& process : run) {
    for (const auto& habit : process.findings.habits) {
      list.push_back({{"id", habit.id},
                      {"title", habit.title},
                      {"evidence", habit.evidence},
                      {"change", habit.change},
                      {"times", habit.times},
                      {"ns", habit.nanoseconds}});
    }
  }
  return list;
}

[[nodiscard]] json run_json(const run::run_report& run) {
  auto traces = json::array();
  for (const auto& process : run) traces.push_back(process.path);
  const auto& first = run.front();
  std::size_t devices = 0;
  bool clean = true;
  for (const auto& process : run) {
    devices += process.devices.size();
    clean = clean && process.completeness.clean_exit;
  }
  return {{"traces", traces},
          {"headline", run::text_of(run::headline_of(run))},
          {"command", first.run.command},
          {"pid", first.run.pid},
          {"host", as_json::text_or_null(first.run.host)},
          {"started_ns", first.run.started_ns},
          {"duration_ns", first.run.duration_ns},
          {"simulated", !first.run.simulated_gpu.empty()},
          {"devices", devices},
          {"clean_exit", clean},
          {"ended", how_it_ended(run)},
          {"habits", habits_json(run)}};
}

[[nodiscard]] json curve_json(const step_curve& curve) {
  return {{"boundary", as_json::text_or_null(curve.boundary)},
          {"steps", curve.steps},
          {"stride", curve.stride},
          {"left_bytes", curve.left},
          {"peak_bytes", curve.peak}};
}

[[nodiscard]] json side_json(const std::optional<device_side>& side) {
  if (!side) return nullptr;
  const auto& device = *side->device;
  const auto capacity = device.facts.total_bytes;
  return {
      {"pid", side->process->run.pid},
      {"rank", or_null(side->process->run.rank)},
      {"index", device.facts.device},
      {"name", as_json::text_or_null(device.name)},
      {"capacity_bytes", capacity == 0 ? json(nullptr) : json(capacity)},
      {"peak_allocated_bytes", device.peak_allocated.totals.allocated},
      {"peak_reserved_bytes", or_null(device.reserved())},
      {"steps", device.steps.count},
      {"step_ns", or_null(side->step_ns)},
      {"out_of_memory_ns", side->oom == nullptr ? json(nullptr) : json(side->oom->facts.time_ns)},
      {"series", curve_json(side->curve)}};
}

[[nodiscard]] json rows_json(const std::vector<changed_row>& rows, bool lines) {
  auto list = json::array();
  for (const auto& row : rows) {
    json made = {{"name", row.name},
                 {"before_bytes", row.before},
                 {"after_bytes", row.after},
                 {"difference_bytes", row.difference()}};
    if (lines) {
      made["category"] = name_of(row.what);
      made["name_before"] = as_json::text_or_null(row.name_before);
    }
    list.push_back(std::move(made));
  }
  return list;
}

[[nodiscard]] json no_longer_given_json(const std::vector<former_advice>& advice) {
  auto list = json::array();
  for (const auto& one : advice) {
    list.push_back({{"id", one.id}, {"predicted_bytes", one.predicted_bytes}});
  }
  return list;
}

[[nodiscard]] json pair_json(const device_pair& pair) {
  return {{"before", side_json(pair.before)},
          {"after", side_json(pair.after)},
          {"verdicts", verdicts_json(pair.verdicts)},
          {"growing", growing_json(pair.growing)},
          {"categories", rows_json(pair.categories, false)},
          {"modules", rows_json(pair.modules, false)},
          {"lines", rows_json(pair.lines, true)},
          {"advice_no_longer_given", no_longer_given_json(pair.advice)}};
}

}  // namespace

nlohmann::ordered_json to_json(const run_difference& runs) {
  json document = {{"schema", "memtrace-diff/1"},    {"before", run_json(*runs.before)},
                   {"after", run_json(*runs.after)}, {"not_comparable", runs.not_comparable},
                   {"configuration", json::array()}, {"devices", json::array()}};
  for (const auto& fact : runs.configuration) {
    document["configuration"].push_back({{"group", fact.group},
                                         {"name", fact.name},
                                         {"before", as_json::text_or_null(fact.before)},
                                         {"after", as_json::text_or_null(fact.after)}});
  }
  for (const auto& pair : runs.devices) document["devices"].push_back(pair_json(pair));
  return document;
}

}  // namespace memtrace::diff
