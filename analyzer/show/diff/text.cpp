// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "analyzer/base/text/chart.h"
#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/show/terminal/parts.h"

namespace memtrace::diff {

namespace {

constexpr std::size_t most_rows = 6;         // of each kind
constexpr std::size_t most_facts = 12;       // of the configuration
constexpr std::size_t most_other_gpus = 4;   // in a line each
constexpr std::uint64_t least_share = 1000;  // of the larger peak: less is not worth a line

void add_runs(text::page& out, const run_difference& runs) {
  const auto line = [&](const char* label, const run::run_report& run) {
    const auto& first = run.front();
    const auto command = text::join(first.run.command, " ");
    constexpr std::size_t label_columns = 8;
    std::string before(label);
    for (const auto& part :
         text::wrap(run::text_of(run::headline_of(run)), text::usual_columns - label_columns)) {
      out.line(fmt::format("{:<7} {}", std::exchange(before, {}), part), text::emphasis::heading);
    }
    out.line(fmt::format("        {}", command.empty() ? first.path : command));
    const auto traces =
        run.size() == 1 ? std::string() : fmt::format("{} traces", text::format_count(run.size()));
    const auto number =  // which a snapshot does not tell
        first.run.pid == 0 ? std::string() : fmt::format("pid {}", first.run.pid);
    out.line(fmt::format(
        "        {}",
        text::join({traces, number, first.run.host.empty() ? "" : "on " + first.run.host,
                    text::format_seconds(first.run.duration_ns), how_it_ended(run)},
                   ", ")));
  };
  line("before", *runs.before);
  line("after", *runs.after);
  for (const auto& sentence : runs.not_comparable) out.line(sentence, text::emphasis::faint);
}

[[nodiscard]] text::chart_series series_of(const std::optional<device_side>& side) {
  if (!side) return {};
  const auto& curve = side->curve;
  return {curve.steps, curve.stride, curve.left, curve.peak};
}

[[nodiscard]] bool grows_in_phase(const verdicts::verdict* one) {
  return one != nullptr && one->about.kind == verdicts::subject_kind::phase &&
         verdicts::is_leak(*one);
}

// Growth that a chart of the bytes left after each step cannot show.
void add_growth_beside(text::page& out, const device_pair& pair) {
  const auto tell = [&](const char* which, const verdicts::verdict* one) {
    if (!grows_in_phase(one)) return;
    out.line(fmt::format("{}: it grew within each {}, before or between the steps of the picture.",
                         which, one->about.name));
  };
  // The device's own verdict is the first.
  const auto grows = [](const verdicts::verdict* one) {
    return one != nullptr && one->about.kind == verdicts::subject_kind::device &&
           verdicts::is_leak(*one);
  };
  if (pair.verdicts.empty()) return;
  const auto& whole = pair.verdicts.front();
  for (const auto& one : pair.verdicts) {
    if (!grows(whole.before)) tell("before", one.before);
    if (!grows(whole.after)) tell("after", one.after);
  }
}

[[nodiscard]] std::string steps_label(const text::chart_series& series) {
  if (series.steps == 0) return "no steps are known";
  return series.steps == 1 ? std::string("step 0")
                           : fmt::format("step 0 … {}", text::format_count(series.steps - 1));
}

void add_picture(text::page& out, const device_pair& pair) {
  const auto before = series_of(pair.before);
  const auto after = series_of(pair.after);
  const text::chart_size size;
  const auto chart = text::draw_twin_chart(before, after, size);
  if (chart.lines.empty()) return;
  out.line(fmt::format("Allocated{}   █ left after a step   ░ within a step{}",
                       pair.before ? fmt::format(" on cuda:{}", pair.before->device->facts.device)
                                   : std::string(),
                       chart.one_step_scale ? "" : "   (each on its own scale of steps)"),
           text::emphasis::heading);
  const auto panels = [&](const std::string& left, const std::string& right) {
    return fmt::format("{:<{}}{:<{}}{}", "", chart.label_columns + 1, left, size.columns + 3,
                       right);
  };
  out.line(panels("before", "after"));
  for (const auto& line : chart.lines) out.line(line);
  out.line(panels(steps_label(before), steps_label(after)));
  add_growth_beside(out, pair);
}

void add_table(text::page& out, const device_pair& pair) {
  out.line(fmt::format("{:<24} {:>20}  {:>20}  {}", "", "before", "after", "change"),
           text::emphasis::faint);
  for (const auto& row : summary_rows(pair)) {
    auto line =
        fmt::format("{:<24} {:>20}  {:>20}  {}", row.name, row.before, row.after, row.change);
    line.erase(line.find_last_not_of(' ') + 1);
    out.line(line, row.alarm ? text::emphasis::alarm : text::emphasis::none);
  }
}

[[nodiscard]] std::string signed_bytes(std::int64_t bytes) {
  const auto size = text::format_bytes(static_cast<std::uint64_t>(std::abs(bytes)));
  return (bytes < 0 ? "−" : "+") + size;
}

// Room for a minus sign, which takes three bytes and one column.
[[nodiscard]] std::string right(const std::string& text, std::size_t columns) {
  const auto characters = static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  return std::string(columns - std::min(columns, characters), ' ') + text;
}

[[nodiscard]] std::string amount(const changed_row& row) {
  const auto cell = [](std::uint64_t bytes) {
    return bytes == 0 ? std::string("-") : text::format_bytes(bytes);
  };
  return fmt::format("  {}  {:>11} → {:>11}", right(signed_bytes(row.difference()), 12),
                     cell(row.before), cell(row.after));
}

[[nodiscard]] std::string rate(double bytes_per_step) {
  if (bytes_per_step <= 0) return "-";
  return text::format_bytes(static_cast<std::uint64_t>(std::llround(bytes_per_step)));
}

void add_growth(text::page& out, const device_pair& pair) {
  if (pair.growing.empty()) return;
  const bool in_phase = std::ranges::any_of(pair.verdicts, [](const verdict_pair& one) {
    return grows_in_phase(one.before) || grows_in_phase(one.after);
  });
  out.line(fmt::format("What accumulates, in bytes a step{}", in_phase ? " or call" : ""),
           text::emphasis::heading);
  const auto shown = std::min(pair.growing.size(), most_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = pair.growing[i];
    const auto was = row.name_before.empty() ? "" : ", before " + row.name_before;
    const auto kept = row.kept_by.empty() ? "" : ", kept by " + row.kept_by;
    out.line(fmt::format("  {:>25} → {:>11}  {}{}{}", rate(row.before), rate(row.after), row.name,
                         was, kept));
  }
  if (shown < pair.growing.size()) {
    out.line(fmt::format("  {:>39}  and {} more", "", pair.growing.size() - shown),
             text::emphasis::faint);
  }
}

// Habits that cost and do not help.
void add_habits(text::page& out, const run_difference& runs) {
  bool headed = false;
  const auto add = [&](const char* which, const run::run_report& run) {
    for (const auto& process : run) {
      for (const auto& habit : process.findings.habits) {
        if (!std::exchange(headed, true)) {
          out.line("What costs and does not help", text::emphasis::heading);
        }
        constexpr std::size_t columns = 90;
        auto label = fmt::format("  {:<6}  ", which);
        for (const auto& line : text::wrap(habit.title + ": " + habit.evidence, columns)) {
          out.line(label + line);
          label.assign(label.size(), ' ');
        }
      }
    }
  };
  add("before", *runs.before);
  add("after", *runs.after);
}

void add_rows(text::page& out, const std::string& heading, const std::vector<changed_row>& rows,
              std::uint64_t total, bool lines) {
  const auto worth = static_cast<std::size_t>(std::ranges::count_if(rows, [&](const auto& row) {
    return static_cast<std::uint64_t>(std::abs(row.difference())) >= total / least_share;
  }));
  if (worth == 0) return;
  out.line(heading, text::emphasis::heading);
  const auto shown = std::min(worth, most_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[i];
    const auto was = row.name_before.empty() ? "" : ", before " + row.name_before;
    out.line(fmt::format("{}  {}{}{}", amount(row), row.name, was,
                         lines ? "  " + words_of(row.what) : std::string()));
  }
  if (rows.size() == shown) return;
  std::int64_t rest = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) rest += rows[i].difference();
  out.line(fmt::format("  {}  {:>25}  in {} more", right(signed_bytes(rest), 12), "",
                       text::format_count(rows.size() - shown)),
           text::emphasis::faint);
}

void add_changes(text::page& out, const device_pair& pair) {
  if (!pair.before || !pair.after) return;
  const auto total = std::max(pair.before->device->peak_allocated.totals.allocated,
                              pair.after->device->peak_allocated.totals.allocated);
  add_rows(out, "At the peak, by category", pair.categories, total, false);
  add_rows(out, "At the peak, by module (without its submodules)", pair.modules, total, false);
  add_rows(out, "At the peak, by line", pair.lines, total, true);
}

// "Advised before and no longer: … (512 MiB less predicted); measured: 498 MiB less reserved"
void add_former_advice(text::page& out, const device_pair& pair) {
  constexpr std::size_t most = 3;
  if (pair.advice.empty()) return;
  const auto measured = text::format_bytes(pair.before->device->peak_reserved.totals.reserved -
                                           pair.after->device->peak_reserved.totals.reserved);
  std::string said;
  for (std::size_t i = 0; i < std::min(pair.advice.size(), most); ++i) {
    const auto& one = pair.advice[i];
    said += fmt::format("{}{} ({} less predicted)", i == 0 ? "" : ", ", advice::brief_words(one.id),
                        text::format_bytes(static_cast<std::uint64_t>(one.predicted_bytes)));
  }
  if (pair.advice.size() > most) said += fmt::format(", {} more", pair.advice.size() - most);
  out.sentence(
      fmt::format("Advised before and no longer: {}; measured: {} less reserved", said, measured));
}

void add_configuration(text::page& out, const std::vector<changed_fact>& facts) {
  if (facts.empty()) {
    out.line("Command, versions, GPU and settings are the same", text::emphasis::heading);
    return;
  }
  out.line("What was set up differently", text::emphasis::heading);
  const auto shown = facts.size() <= most_facts ? facts.size() : most_facts - 1;
  const auto or_none = [](const std::string& value) {
    return value.empty() ? std::string("(none)") : value;
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& fact = facts[i];
    out.line(fmt::format("  {:<11} {}: {} → {}", fact.group, fact.name, or_none(fact.before),
                         or_none(fact.after)));
  }
  if (shown < facts.size()) {
    out.line(fmt::format("  and {} more (--json FILE has all)", facts.size() - shown),
             text::emphasis::faint);
  }
}

// Devices beside the first pair, in a line each.
void add_other_devices(text::page& out, const std::vector<device_pair>& pairs) {
  const auto side = [](const std::optional<device_side>& one) {
    return one ? text::format_bytes(one->device->peak_allocated.totals.allocated)
               : std::string("-");
  };
  for (std::size_t i = 1; i < std::min(pairs.size(), most_other_gpus + 1); ++i) {
    const auto& known = pairs[i].before ? *pairs[i].before : *pairs[i].after;
    const auto& rank = known.process->run.rank;
    out.line(fmt::format("  {}cuda:{} peak allocated {} → {}",
                         rank ? fmt::format("rank {}, ", *rank) : std::string(),
                         known.device->facts.device, side(pairs[i].before), side(pairs[i].after)));
  }
  if (pairs.size() > most_other_gpus + 1) {
    out.line(fmt::format("  and {} more GPUs", pairs.size() - most_other_gpus - 1));
  }
}

}  // namespace

std::string to_text(const run_difference& runs, const text::style& style) {
  text::page out;
  add_runs(out, runs);
  if (runs.devices.empty()) {
    out.line("Neither run allocated GPU memory through PyTorch.");
  } else {
    add_picture(out, runs.devices.front());
    add_table(out, runs.devices.front());
    add_former_advice(out, runs.devices.front());
    add_other_devices(out, runs.devices);
    add_growth(out, runs.devices.front());
    add_changes(out, runs.devices.front());
  }
  add_habits(out, runs);
  add_configuration(out, runs.configuration);
  return out.render(style.colour, style.width);
}

}  // namespace memtrace::diff
