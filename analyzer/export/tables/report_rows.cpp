// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/places.h"

#include <cmath>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/show/json/report.h"

namespace memtrace::tables {

namespace {

using as_json::json;

// One process and one table after the other.
class writer {
 public:
  writer(const run::process_report& process, std::size_t number, places& known, sink& to)
      : owner_{whole(number), whole(process.run.pid), whole(process.run.rank)},
        known_(known),
        to_(to) {}

  // `first`: the columns behind the owner's that are not in the report.
  void add(const table& which, const json& row, const std::vector<value>& first = {}) {
    texts_.clear();
    std::vector<value> values(owner_);
    values.insert(values.end(), first.begin(), first.end());
    for (const auto& column : which.columns.subspan(values.size())) {
      values.push_back(cell(column, row));
    }
    to_.add(which, values);
  }

 private:
  [[nodiscard]] value keep(std::string content) {
    return std::string_view(texts_.emplace_back(std::move(content)));
  }

  [[nodiscard]] value place(const column& which, const json& frames) {
    std::vector<code::source_frame> found;
    for (const auto& one : frames) {
      found.push_back({one["file"].get<std::string>(), one["line"].get<std::uint32_t>(),
                       one["function"].get<std::string>(), one["user"].get<bool>()});
    }
    const auto site = known_.site_of(found);
    if (site == 0) return {};
    return which.type == column_type::text ? value(std::string_view(known_[site].line))
                                           : whole(site);
  }

  [[nodiscard]] value cell(const column& which, const json& row) {
    const json::json_pointer at{std::string(which.in_report)};
    if (!row.contains(at)) return {};
    const auto& found = row[at];
    const bool is_known =
        !found.is_null() && (!found.is_number_float() || std::isfinite(found.get<double>()));
    if (!is_known) return {};
    const bool is_place = which.in_report == "/frames" || which.in_report == "/forward";
    if (is_place) return place(which, found);
    switch (which.type) {
      case column_type::integer:
        if (found.is_boolean()) return whole(found.get<bool>() ? 1 : 0);
        return whole(found.get<std::int64_t>());
      case column_type::real:
        return found.get<double>();
      case column_type::text:
        return keep(found.is_string() ? found.get<std::string>() : found.dump());
    }
    return {};
  }

  std::vector<value> owner_;
  places& known_;
  sink& to_;
  std::deque<std::string> texts_;  // of the row at hand
};

// The report of that process alone; its history is large and not part of it.
[[nodiscard]] json report_of(const run::process_report& process) {
  run::run_report one(1, process);
  one.front().history.reset();
  return as_json::to_json(one);
}

void add_verdicts(const json& report, writer& rows) {
  std::size_t number = 0;
  for (const auto& verdict : report["verdicts"]) {
    rows.add(verdicts, verdict, {whole(number)});
    std::size_t place = 0;
    for (const auto& suspect : verdict["culprits"]) {
      rows.add(suspects, suspect, {whole(number), whole(place)});
      for (const auto& held_by : suspect["retained_by"]) {
        rows.add(retainers, held_by, {whole(number), whole(place)});
      }
      ++place;
    }
    ++number;
  }
}

}  // namespace

void add_report_rows(const run::process_report& process, std::size_t number, places& known,
                     sink& to) {
  const auto report = report_of(process);
  writer rows(process, number, known, to);
  auto whole_process = report["processes"][0];
  whole_process["step_boundary"] = report["steps"]["boundary"];
  rows.add(processes, whole_process);
  for (const auto& device : report["devices"]) {
    rows.add(devices, device);
    const std::vector<value> of_device = {whole(device["index"].get<std::int64_t>())};
    for (const auto& phase : device["phases"]) rows.add(phases, phase, of_device);
    for (const auto& module : device["at_peak"]["modules"]) rows.add(modules, module, of_device);
  }
  add_verdicts(report, rows);
  for (const auto& one : report["fragmentation"]) rows.add(fragmentation, one);
  for (const auto& one : report["advice"]) rows.add(advice, one);
  for (const auto& one : report["oom"]) rows.add(oom, one);
}

}  // namespace memtrace::tables
