// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/html/page.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/statistics/judge.h"
#include "analyzer/judge/advice/piece.h"
#include "analyzer/show/diff/diff.h"
#include "analyzer/show/html/columns.h"
#include "analyzer/show/html/facts.h"
#include "analyzer/show/html/template.h"
#include "analyzer/show/json/report.h"
#include "analyzer/show/terminal/parts.h"

namespace memtrace::html {

namespace {

using json = nlohmann::ordered_json;
using attribution::category;
using attribution::evidence;
using attribution::phase;

// Names that are longer than any name should be are cut, wherever they stand. A map of the heap is
// text, too, but of our own making, and its end is as good as its beginning.
void shorten(json& value) {
  if (value.is_string()) {
    const auto& words = value.get_ref<const std::string&>();
    if (auto cut = shortened(words); cut.size() < words.size()) value = std::move(cut);
  } else if (value.is_object()) {
    for (auto& [key, inner] : value.items()) {
      const bool is_map_of_segment = key == "blocks" && inner.is_string();
      if (!is_map_of_segment) shorten(inner);
    }
  } else if (value.is_array()) {
    for (auto& inner : value) shorten(inner);
  }
}

[[nodiscard]] json compact(json document) {
  shorten(document);
  return document;
}

template <class Enum>
[[nodiscard]] json names_of(std::size_t count) {
  auto made = json::array();
  for (std::size_t i = 0; i < count; ++i) made.push_back(name_of(static_cast<Enum>(i)));
  return made;
}

// The changes that the report names, as people call them.
[[nodiscard]] json advice_words(const json& report) {
  auto made = json::object();
  const auto add = [&](const json& id) {
    const auto& name = id.get_ref<const std::string&>();
    made[name] = advice::brief_words(name);
  };
  for (const auto& one : report["advice"]) add(one["id"]);
  for (const auto& together : report["advice_combined"]) {
    for (const auto& id : together["ids"]) add(id);
  }
  return made;
}

[[nodiscard]] json shapes() {
  auto made = json::object();
  for (auto i = 0u; i <= static_cast<unsigned>(growth::shape::steady); ++i) {
    const auto which = static_cast<growth::shape>(i);
    made[std::string(growth::name_of(which))] = terminal::shape_heading(which);
  }
  return made;
}

[[nodiscard]] json begin_facts(const char* kind, const page_options& how) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {{"schema", "memtrace-page/1"},
          {"memtrace", how.version},
          {"kind", kind},
          {"made_ns", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()}};
}

void end_facts(json& facts, const page_options& how, page_names& names, column_writer& columns) {
  names.write(columns);
  facts["columns"] = columns.directory();
  facts["texts"] = names.texts();
  facts["categories"] = names_of<category>(attribution::category_count);
  facts["evidence"] = names_of<evidence>(attribution::evidence_count);
  facts["phases"] = names_of<phase>(attribution::phase_count);
  facts["sources"] = names.sources();
  facts["scrubbed"] = how.scrubbed;
  facts["served"] = how.served ? json(*how.served) : json(nullptr);
}

[[nodiscard]] std::string fill(const std::string& title, const json& facts,
                               const std::string& columns, const page_options& how) {
  const auto words = facts.dump(-1, ' ', false, json::error_handler_t::replace);
  return filled(page_template(), {{"@memtrace-title@", escaped_text(shortened(title))},
                                  {"@memtrace-connect@", how.served ? "'self'" : "'none'"},
                                  {"@memtrace-facts@", escaped_json(words)},
                                  {"@memtrace-columns@", columns}});
}

// The weight from which on `most` blocks of all histories are at least as heavy.
[[nodiscard]] double weight_of_heaviest(const run::run_report& processes, std::size_t most) {
  std::vector<double> weights;
  for (const auto& process : processes) {
    if (!process.history) continue;
    for (const auto& [index, device] : process.history->devices) {
      for (const auto& one : device.blocks) weights.push_back(one.weight());
    }
  }
  if (weights.size() <= most) return 0;
  const auto last = weights.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(weights, last, std::greater());
  return std::nextafter(*last, *last + 1);
}

[[nodiscard]] std::string with_blocks(const run::run_report& processes, const json& report,
                                      const page_options& how, std::size_t most_blocks) {
  auto facts = begin_facts("report", how);
  facts["report"] = report;
  facts["advice_words"] = advice_words(report);
  facts["shapes"] = shapes();
  const auto least_weight = weight_of_heaviest(processes, most_blocks);
  page_names names;
  column_writer columns;
  auto histories = json::array();
  for (const auto& process : processes) {
    if (!process.history) continue;
    if (how.with_source) names.learn_sources(*process.history);
    const auto nodes = names.nodes_of(process.history->stacks);
    for (const auto& device : process.devices) {
      const auto known = process.history->devices.find(device.facts.device);
      if (known == process.history->devices.end()) continue;
      const shown_history shown{process, device, known->second, histories.size()};
      histories.push_back(write_history(shown, least_weight, nodes, names, columns));
    }
  }
  end_facts(facts, how, names, columns);
  facts["histories"] = std::move(histories);
  const auto& command = processes.front().run.command;
  const auto what = command.empty() ? std::string("report") : command.back();
  return fill("memtrace: " + what, facts, columns.packed(), how);
}

}  // namespace

std::string report_page(const run::run_report& processes, const page_options& how) {
  const auto report = compact(as_json::to_json(processes));
  std::size_t most_blocks = 300'000;
  auto page = with_blocks(processes, report, how, most_blocks);
  while (page.size() > how.most_bytes && most_blocks > 100) {
    const auto share = static_cast<double>(how.most_bytes) / static_cast<double>(page.size());
    most_blocks = static_cast<std::size_t>(static_cast<double>(most_blocks) *
                                           std::clamp(share * 0.9, 0.2, 0.9));
    page = with_blocks(processes, report, how, most_blocks);
  }
  return page;
}

std::string difference_page(const diff::run_difference& runs, const page_options& how) {
  auto facts = begin_facts("diff", how);
  facts["diff"] = compact(diff::to_json(runs));
  page_names names;
  column_writer columns;
  end_facts(facts, how, names, columns);
  facts["histories"] = json::array();
  return fill("memtrace: two runs compared", facts, columns.packed(), how);
}

}  // namespace memtrace::html
