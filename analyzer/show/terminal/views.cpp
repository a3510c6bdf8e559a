// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"
#include "analyzer/run/model/module_tree.h"
#include "analyzer/show/terminal/parts.h"

namespace memtrace::terminal {

namespace {

constexpr std::size_t most_rows = 200;

// 0 as a dash: tables are easier to read where what is not there does not look like a number.
[[nodiscard]] std::string cell(std::uint64_t bytes) {
  return bytes == 0 ? "-" : text::format_bytes(bytes);
}

void by_category(text::page& out, const run::device_report&, const run::memory_view& view) {
  for (const auto& row : view.categories) {
    out.line(fmt::format("  {:>11} {:>5.1f} %  {} in {} block{}", text::format_bytes(row.bytes),
                         text::percent(row.bytes, view.total), words_of(row.what),
                         text::format_count(row.blocks), row.blocks == 1 ? "" : "s"));
    std::uint64_t by_rules = 0;
    for (const auto& rule : row.rules) {
      out.line(fmt::format("    {:>11}            by rule {}", text::format_bytes(rule.bytes),
                           rule.rule));
      by_rules += rule.bytes;
    }
    if (by_rules < row.bytes) {
      out.line(fmt::format("    {:>11}            no rule applies",
                           text::format_bytes(row.bytes - by_rules)));
    }
  }
}

void by_module(text::page& out, const run::device_report&, const run::memory_view& view) {
  // The first is the sum of the others.
  out.line(fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  {}", "total", "weights",
                       "gradients", "opt. states", "activations", "other", "module"),
           text::emphasis::faint);
  const auto rows = run::module_tree(view.modules);
  std::vector<std::string> above;  // names of the rows that the next one may be in
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    const auto& [line, depth] = rows[i];
    const auto& bytes = line.bytes;
    using attribution::category;
    above.resize(depth);
    const auto label = label_of(line, above.empty() ? std::string() : above.back());
    above.push_back(line.name);
    std::string cells;
    auto other = line.total;
    for (const auto what : {category::weights, category::gradients, category::optimizer_states,
                            category::activations}) {
      other -= bytes[what];
      cells += fmt::format(" {:>11}", cell(bytes[what]));
    }
    out.line(fmt::format("  {:>11}{} {:>11}  {}{}", cell(line.total), cells, cell(other),
                         std::string(2 * depth, ' '), label));
  }
}

void by_site(text::page& out, const run::device_report&, const run::memory_view& view) {
  add_lines_of_code(out, view.sites, view.total, most_rows);
}

void by_phase(text::page& out, const run::device_report& device, const run::memory_view&) {
  for (const auto& one : device.phases) {
    const auto name = short_words_of(one.which);
    out.line(fmt::format("  {:<12} highest {:>11} at event {}; allocated {} in all, freed {}", name,
                         text::format_bytes(one.at_peak.total),
                         text::format_count(one.at_peak.event), text::format_bytes(one.allocated),
                         text::format_bytes(one.freed)));
    for (const auto& row : one.at_peak.categories) {
      out.line(fmt::format("    {:>11} {:>5.1f} %  {}", text::format_bytes(row.bytes),
                           text::percent(row.bytes, one.at_peak.total), words_of(row.what)));
    }
  }
  for (const auto& [name, found] : device.named_phases) {
    out.line(fmt::format(
        "  {} ({}, {}) highest {} at event {}; allocated {} in all, freed {}", name,
        found.nvtx ? "NVTX" : "the program's own",
        found.begun == 1 ? std::string("once") : text::format_count(found.begun) + " times",
        text::format_bytes(found.peak), text::format_count(found.peak_event),
        text::format_bytes(found.allocated), text::format_bytes(found.freed)));
  }
}

void by_parameter(text::page& out, const run::device_report& device, const run::memory_view&) {
  auto rows = device.parameters;
  const auto total = [](const attribution::parameter_row& row) {
    return row.weights + row.gradients + row.optimizer_states;
  };
  std::ranges::stable_sort(rows, std::greater(), total);
  if (rows.empty()) {
    out.line("  no parameters are known");
    return;
  }
  out.line(fmt::format("  {:>11} {:>11} {:>11}  {}", "weights", "gradients", "opt. states",
                       "parameter, at the peak"),
           text::emphasis::faint);
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    const auto& row = rows[i];
    out.line(
        fmt::format("  {:>11} {:>11} {:>11}  {}.{} {}{}{}", cell(row.weights), cell(row.gradients),
                    cell(row.optimizer_states), row.root, row.name, row.dtype,
                    row.trainable ? "" : ", not trained",
                    row.sharing > 1 ? fmt::format(", shared by {}", row.sharing) : std::string()));
  }
  if (rows.size() <= most_rows) return;
  out.line(fmt::format("  and {} smaller ones (all are in --json)",
                       text::format_count(rows.size() - most_rows)),
           text::emphasis::faint);
}

void by_name(text::page& out, const run::device_report&, const run::memory_view& view) {
  if (view.named.empty()) {
    out.line("  the program named no memory: memtrace.annotate(memory, category, name)");
    return;
  }
  std::uint64_t named = 0;
  for (std::size_t i = 0; i < view.named.size(); ++i) {
    const auto& row = view.named[i];
    named += row.bytes;
    if (i >= most_rows) continue;
    out.line(fmt::format("  {:>11} {:>5.1f} %  {}  {} in {} block{}", text::format_bytes(row.bytes),
                         text::percent(row.bytes, view.total), row.name, words_of(row.what),
                         text::format_count(row.blocks), row.blocks == 1 ? "" : "s"));
  }
  if (view.named.size() > most_rows) {
    out.line(fmt::format("  and {} smaller ones (all are in --json)",
                         text::format_count(view.named.size() - most_rows)),
             text::emphasis::faint);
  }
  out.line(fmt::format("  {:>11} {:>5.1f} %  have no name of the program's",
                       text::format_bytes(view.total - named),
                       text::percent(view.total - named, view.total)),
           text::emphasis::faint);
}

void by_step(text::page& out, const run::device_report& device, const run::memory_view&) {
  const auto& steps = device.steps.steps;
  if (steps.empty()) {
    out.line("  no steps are known");
    return;
  }
  constexpr std::array shown = {attribution::phase::forward, attribution::phase::backward,
                                attribution::phase::optimizer, attribution::phase::evaluation};
  out.line(fmt::format("  {:>7} {:>11} {:>11} {:>11} {:>11} {:>11}", "step", "highest", "forward",
                       "backward", "optimizer", "evaluation"),
           text::emphasis::faint);
  for (std::size_t i = 0; i < std::min(steps.size(), most_rows); ++i) {
    auto line = fmt::format("  {:>7} {:>11}", i, text::format_bytes(steps[i].peak));
    for (const auto which : shown) line += fmt::format(" {:>11}", cell(steps[i].peak_in[which]));
    out.line(line);
  }
  if (device.steps.count <= most_rows) return;
  out.line(
      fmt::format("  and {} more (in --json)", text::format_count(device.steps.count - most_rows)),
      text::emphasis::faint);
}

struct kind_of_view {
  view_by kind;
  std::string_view name;
  void (*add)(text::page&, const run::device_report&, const run::memory_view&);
  bool of_a_moment;  // else of the run
};

constexpr std::array views = {
    kind_of_view{view_by::category, "category", by_category, true},
    kind_of_view{view_by::module, "module", by_module, true},
    kind_of_view{view_by::site, "site", by_site, true},
    kind_of_view{view_by::phase, "phase", by_phase, false},
    kind_of_view{view_by::parameter, "parameter", by_parameter, false},
    kind_of_view{view_by::name, "name", by_name, true},
    kind_of_view{view_by::step, "step", by_step, false},
    kind_of_view{view_by::fragmentation, "fragmentation", nullptr, false},  // of the process
    kind_of_view{view_by::advice, "advice", nullptr, false},                // the same
    kind_of_view{view_by::expected, "expected", nullptr, false},            // the same
    kind_of_view{view_by::rank, "rank", nullptr, false},                    // of all processes
};

}  // namespace

std::optional<view_by> view_named(std::string_view name) {
  const auto found = std::ranges::find(views, name, &kind_of_view::name);
  return found == views.end() ? std::nullopt : std::optional(found->kind);
}

std::string to_view(const run::run_report& processes, view_by kind, const text::style& style) {
  const auto& wanted = *std::ranges::find(views, kind, &kind_of_view::kind);
  text::page out;
  if (kind == view_by::rank) {
    add_rank_table(out, ranks::find_ranks(processes), text::columns_of(style));
    return out.render(style.colour, style.width);
  }
  for (const auto& process : processes) {
    if (kind == view_by::advice) {
      out.line(fmt::format("pid {}", process.run.pid), text::emphasis::heading);
      add_advice_in_full(out, process, text::columns_of(style));
      continue;
    }
    for (const auto& device : process.devices) {
      const auto& view = device.at ? *device.at : device.at_peak;
      const auto when = when_in_training(device, view);
      auto heading =
          fmt::format("pid {} cuda:{} {}", process.run.pid, device.facts.device, device.name);
      if (wanted.of_a_moment) {
        heading += fmt::format(", {} allocated {} event {}{}", text::format_bytes(view.total),
                               device.at ? "after" : "at the peak,", text::format_count(view.event),
                               when.empty() ? "" : ", " + when);
      }
      out.line(heading, text::emphasis::heading);
      if (kind == view_by::expected) {
        add_expected_in_full(out, process, device);
      } else if (wanted.add == nullptr) {
        add_fragmentation_in_full(out, process, device);
      } else {
        wanted.add(out, device, view);
      }
    }
  }
  return out.render(style.colour, style.width);
}

}  // namespace memtrace::terminal
