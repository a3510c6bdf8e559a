// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analyzer/base/text/units.h"

namespace memtrace::diff {

namespace {

using side = std::optional<device_side>;
using number = std::optional<std::uint64_t>;

// −16.44 GiB (−93.2 %), the same, or nothing where one of the two is missing.
[[nodiscard]] std::string change_of(number before, number after,
                                    const std::function<std::string(std::uint64_t)>& show) {
  if (!before || !after) return {};
  if (*before == *after) return "the same";
  const bool less = *after < *before;
  const auto difference = less ? *before - *after : *after - *before;
  auto out = (less ? "−" : "+") + show(difference);
  if (*before == 0) return out;
  const auto share = 100.0 * static_cast<double>(difference) / static_cast<double>(*before);
  return out + fmt::format(" ({}{:.{}f} %)", less ? "−" : "+", share, share < 10 ? 1 : 0);
}

[[nodiscard]] summary_row row_of(const char* name, const side& before, const side& after,
                                 const std::function<number(const device_side&)>& value,
                                 const std::function<std::string(std::uint64_t)>& show) {
  const auto of = [&](const side& one) { return one ? value(*one) : std::nullopt; };
  const auto cell = [&](number one) { return one ? show(*one) : std::string("-"); };
  const auto old_value = of(before);
  const auto new_value = of(after);
  return {name, cell(old_value), cell(new_value), change_of(old_value, new_value, show), false};
}

[[nodiscard]] number reserved_of(const device_side& one) {
  return one.device->reserved();
}

[[nodiscard]] std::string show_ns(std::uint64_t ns) {
  if (ns < 1'000'000'000) return fmt::format("{:.2f} ms", static_cast<double>(ns) / 1e6);
  return text::format_seconds(ns);
}

[[nodiscard]] bool grows_for_long(const verdicts::verdict* one) {
  return one != nullptr && verdicts::is_leak(*one);
}

// accumulating (93 %)
[[nodiscard]] std::string verdict_cell(const verdicts::verdict* one) {
  if (one == nullptr) return "-";
  const auto& found = one->found;
  if (verdicts::answer_of(*one) == verdicts::answer::not_settled) return "not settled";
  if (one->bound) return "bounded";
  std::string name(found.negligible ? "negligible growth" : growth::name_of(found.shape));
  if (verdicts::is_expected(*one)) name += ", expected";
  std::ranges::replace(name, '_', ' ');
  return fmt::format("{} ({:.0f} %)", name, 100 * found.confidence);
}

[[nodiscard]] std::string rate_cell(const verdicts::verdict* one) {
  if (one == nullptr || verdicts::answer_of(*one) == verdicts::answer::not_settled) return "-";
  return text::format_bytes(
      static_cast<std::uint64_t>(std::llround(std::max(one->bytes_per_step, 0.0))));
}

[[nodiscard]] std::string steps_left_cell(const verdicts::verdict* one, const side& where) {
  if (where && where->oom != nullptr && !where->oom->facts.caught) return "ran out";
  if (!grows_for_long(one) || !one->steps_to_oom) return "-";
  return fmt::format("{} steps", text::format_count(*one->steps_to_oom));
}

// The verdicts of which at least one grows, and those on devices.
void add_verdicts(const device_pair& pair, std::vector<summary_row>& rows) {
  for (const auto& [subject, before, after] : pair.verdicts) {
    const bool grew = grows_for_long(before);
    const bool grows = grows_for_long(after);
    const auto& known = after == nullptr ? *before : *after;
    const bool is_device = known.about.kind == verdicts::subject_kind::device;
    rows.push_back(
        {is_device ? "verdict" : subject, verdict_cell(before), verdict_cell(after), {}, grows});
    if (!grew && !grows) continue;
    rows.push_back(
        {"  more after each " + known.unit, rate_cell(before), rate_cell(after), {}, false});
    if (!is_device) continue;
    rows.push_back({"  out of memory in",
                    steps_left_cell(before, pair.before),
                    steps_left_cell(after, pair.after),
                    {},
                    false});
  }
}

[[nodiscard]] number unused_of(const device_side& one) {
  if (!one.device->reserved()) return std::nullopt;
  const auto& totals = one.device->peak_reserved.totals;
  return totals.reserved - std::min(totals.reserved, totals.allocated);
}

[[nodiscard]] std::string oom_cell(const side& one) {
  if (!one) return "-";
  if (one->oom == nullptr) return "no";
  return fmt::format("at {}{}", text::format_seconds(one->oom->facts.time_ns),
                     one->oom->facts.caught ? ", caught" : "");
}

}  // namespace

std::vector<summary_row> summary_rows(const device_pair& pair) {
  std::vector<summary_row> rows;
  const auto& before = pair.before;
  const auto& after = pair.after;
  add_verdicts(pair, rows);
  rows.push_back(row_of(
      "peak allocated", before, after,
      [](const device_side& one) { return number(one.device->peak_allocated.totals.allocated); },
      text::format_bytes));
  rows.push_back(row_of("peak reserved", before, after, reserved_of, text::format_bytes));
  rows.push_back(row_of("  of it unused", before, after, unused_of, text::format_bytes));
  rows.push_back(row_of(
      "steps", before, after,
      [](const device_side& one) {
        return one.device->steps.count == 0 ? number() : number(one.device->steps.count);
      },
      text::format_count));
  rows.push_back(row_of(
      "time a step (median)", before, after, [](const device_side& one) { return one.step_ns; },
      show_ns));
  if ((before && before->oom != nullptr) || (after && after->oom != nullptr)) {
    const bool fails = after && after->oom != nullptr && !after->oom->facts.caught;
    rows.push_back({"out of memory", oom_cell(before), oom_cell(after), {}, fails});
  }
  return rows;
}

std::string how_it_ended(const run::run_report& run) {
  const bool failed = std::ranges::any_of(run, [](const run::process_report& process) {
    const auto* const oom = run::decisive_oom(process);
    return oom != nullptr && !oom->facts.caught;
  });
  if (failed) return "ran out of memory";
  const bool clean = std::ranges::all_of(
      run, [](const run::process_report& process) { return process.completeness.clean_exit; });
  return clean ? "ended by itself" : "was killed, or is still running";
}

}  // namespace memtrace::diff
