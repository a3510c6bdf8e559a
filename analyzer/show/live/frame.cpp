// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/show/terminal/parts.h"

namespace memtrace::live {

namespace {

// A series in one line of text: a character a value, from the least to the greatest.
// Without Unicode: by characters of ASCII that look higher and higher.
[[nodiscard]] inline std::string sparkline(const std::vector<std::uint64_t>& values, bool unicode) {
  constexpr std::array high = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array plain = {"_", ".", "-", "~", "=", "+", "*", "#"};
  std::string line;
  if (values.empty()) return line;
  const auto [least, most] = std::ranges::minmax(values);
  for (const auto value : values) {
    const auto share = most == least
                           ? 0.0
                           : static_cast<double>(value - least) / static_cast<double>(most - least);
    const auto level =
        std::min<std::size_t>(high.size() - 1, static_cast<std::size_t>(share * high.size()));
    line += unicode ? high[level] : plain[level];
  }
  return line;
}

using text::emphasis;
using text::format_bytes;
using text::format_count;
using text::format_seconds;

constexpr std::size_t most_categories = 5;
constexpr std::size_t most_lines = 5;

[[nodiscard]] std::string command_of(const followed_run& run) {
  auto command = run.replayed().info(format::info_key::command);
  std::ranges::replace(command, '\0', ' ');
  while (command.ends_with(' ')) command.pop_back();
  return command.empty() ? run.path() : command;
}

[[nodiscard]] std::string age_words(std::chrono::steady_clock::duration age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  if (seconds < 60) return fmt::format("{} s", std::max<std::int64_t>(0, seconds));
  return format_seconds(static_cast<std::uint64_t>(seconds) * 1'000'000'000);
}

[[nodiscard]] std::string step_words(const attribution::steps_so_far& steps) {
  switch (steps.boundary) {
    case attribution::step_boundary::user:
      return fmt::format("{} steps, as the program marks them", format_count(steps.count));
    case attribution::step_boundary::optimizer:
      return fmt::format("{} optimizer steps", format_count(steps.count));
    default:
      return "no step marked yet";
  }
}

// A table's row: a label, and three columns of sizes.
[[nodiscard]] std::string row(std::string_view label, const std::string& first,
                              const std::string& second, const std::string& third) {
  return fmt::format("  {:<16} {:>11} {:>18} {:>16}", label, first, second, third);
}

[[nodiscard]] std::string at_step(const attribution::steps_so_far& steps, std::uint64_t event) {
  if (steps.count == 0) return {};
  for (std::size_t i = 0; i < steps.before.size(); ++i) {
    if (event <= steps.before[i].end_event) return fmt::format("  in step {}", format_count(i));
  }
  if (event <= steps.latest.end_event) {
    return fmt::format("  in step {}", format_count(steps.count - 1));
  }
  return "  since then";
}

void add_totals(text::page& out, const followed_run& run, std::uint32_t device) {
  const auto* const record = run.replayed().device(device);
  if (record == nullptr) return;
  const auto& allocator = record->allocator;
  const auto steps = run.steps(device);
  const auto reserved = static_cast<std::uint64_t>(
      static_cast<std::int64_t>(allocator.totals().reserved) + allocator.reserved_difference());
  out.line(row("", "now", "peak of last step", "peak of the run"), emphasis::faint);
  const auto& peak = allocator.peak_allocated();
  out.line(row("allocated", format_bytes(allocator.allocated()),
               steps.count == 0 ? "-" : format_bytes(steps.latest.peak),
               format_bytes(peak.totals.allocated)) +
           at_step(steps, peak.event));
  const auto& highest = allocator.peak_reserved();
  if (highest.totals.reserved == 0) return;  // as with backend:cudaMallocAsync
  out.line(row("reserved", format_bytes(reserved), "", format_bytes(highest.totals.reserved)) +
           at_step(steps, highest.event));
}

[[nodiscard]] std::string growth_words(const verdicts::verdict& about, bool& alarming) {
  const auto& found = about.found;
  const auto rate =
      format_bytes(static_cast<std::uint64_t>(std::llround(std::max(0.0, about.bytes_per_step))));
  if (verdicts::answer_of(about) == verdicts::answer::accumulates && !found.negligible) {
    alarming = !verdicts::is_expected(about);
    auto text = fmt::format("{} a {}", rate, about.unit);
    if (about.steps_to_oom) {
      text += fmt::format(", out of memory in about {} steps", format_count(*about.steps_to_oom));
      if (about.ns_to_oom) text += fmt::format(" ({})", format_seconds(*about.ns_to_oom));
    }
    if (about.expected) text += "; " + verdicts::expected_words(about);
    return text;
  }
  if (about.bound || verdicts::is_in_doubt(about)) return about.summary;
  switch (found.shape) {
    case growth::shape::unknown:
      return found.more_steps_needed == 0
                 ? std::string("growth cannot be told yet")
                 : fmt::format("growth cannot be told yet: {} more steps are needed",
                               format_count(found.more_steps_needed));
    case growth::shape::sawtooth:
      return "memory " + growth::fill_words(found.evidence, about.unit);
    case growth::shape::bounded_records:
      return "memory rises more and more rarely: no leak";
    case growth::shape::warmup_plateau:
      return "memory grew at first, and has stopped";
    default:
      return "memory does not grow from step to step";
  }
}

void add_growth(text::page& out, const shown_run& shown, std::uint32_t device) {
  const auto* const growth = growth_of(shown, device);
  if (growth == nullptr) return;
  bool alarming = false;
  auto words = growth_words(*growth, alarming);
  out.line("  growth: " + words, alarming ? emphasis::alarm : emphasis::none);
}

void add_sparkline(text::page& out, const followed_run& run, std::uint32_t device,
                   const frame_options& how) {
  const auto steps = run.steps(device);
  std::vector<std::uint64_t> peaks;
  std::string label;
  constexpr std::size_t most = 32;
  const auto room = std::min(most, how.columns > 69 ? how.columns - 57 : 12);
  if (steps.count > 1) {
    const auto skip = steps.before.size() > room - 1 ? steps.before.size() - (room - 1) : 0;
    for (const auto& one : steps.before.subspan(skip)) peaks.push_back(one.peak);
    peaks.push_back(steps.latest.peak);
    label = fmt::format("peaks of the last {} steps", peaks.size());
  } else if (const auto* const times = run.over_time(device)) {
    const auto& all = times->peaks();
    const auto skip = all.size() > room ? all.size() - room : 0;
    peaks.assign(all.begin() + static_cast<std::ptrdiff_t>(skip), all.end());
    label = fmt::format("allocated, each {} ", format_seconds(times->width_ns()));
  }
  if (peaks.empty()) return;
  const auto [least, most_bytes] = std::ranges::minmax(peaks);
  out.line(fmt::format("  {}  {}  {}", label, sparkline(peaks, how.unicode),
                       least == most_bytes ? format_bytes(least)
                                           : fmt::format("{} to {}", format_bytes(least),
                                                         format_bytes(most_bytes))));
}

void add_categories(text::page& out, const held_memory& held, std::size_t most) {
  std::map<attribution::category, std::pair<std::uint64_t, std::uint64_t>> both;
  for (const auto& one : held.now.categories) both[one.what].first = one.bytes;
  for (const auto& one : held.at_peak.categories) both[one.what].second = one.bytes;
  std::vector<std::pair<attribution::category, std::pair<std::uint64_t, std::uint64_t>>> rows(
      both.begin(), both.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::max(a.second.first, a.second.second) > std::max(b.second.first, b.second.second);
  });
  out.line(row("By category", "now", "", "at that peak"), emphasis::heading);
  const auto shown = rows.size() <= most ? rows.size() : most - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    out.line(row(words_of(rows[i].first), format_bytes(rows[i].second.first), "",
                 format_bytes(rows[i].second.second)));
  }
  if (shown == rows.size()) return;
  std::pair<std::uint64_t, std::uint64_t> rest{};
  for (std::size_t i = shown; i < rows.size(); ++i) {
    rest.first += rows[i].second.first;
    rest.second += rows[i].second.second;
  }
  out.line(row(fmt::format("{} others", rows.size() - shown), format_bytes(rest.first), "",
               format_bytes(rest.second)));
}

void add_lines(text::page& out, const held_memory& held, const frame_options& how,
               std::size_t most) {
  const bool at_peak = how.sorted == sort_by::bytes_at_peak;
  auto lines = run::fold_to_user_lines(at_peak ? held.at_peak.sites : held.now.sites);
  if (how.sorted == sort_by::blocks) {
    std::ranges::stable_sort(lines, std::greater(), &run::user_line::blocks);
  }
  const char* const title = how.sorted == sort_by::blocks ? "Lines with most blocks now"
                            : at_peak                     ? "Lines that held most at that peak"
                                                          : "Lines that hold most now";
  out.line(title, emphasis::heading);
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
    const auto& one = lines[i];
    out.line(fmt::format("  {:>12} in {:>6}  {}, {}", format_bytes(one.bytes),
                         fmt::format("{}", format_count(one.blocks)), words_of(one.what),
                         one.where));
  }
  if (lines.empty()) out.line("  nothing is allocated", emphasis::faint);
}

void add_report(text::page& out, const shown_run& shown, const frame_options& how,
                std::size_t room) {
  if (room < 2) return;
  if (shown.report == nullptr) {
    out.line(shown.report_in_work ? "Advice so far: being worked out" : "Advice so far: none yet",
             emphasis::faint);
    return;
  }
  const auto& report = shown.report->report;
  const auto* device = static_cast<const run::device_report*>(nullptr);
  for (const auto& one : report.devices) {
    if (one.facts.device == shown.device) device = &one;
  }
  const auto age = std::chrono::steady_clock::now() - shown.report->as_of;
  const bool is_last = is_whole(shown);
  out.line(is_last ? "Advice"
                   : fmt::format("Advice so far, as of event {} ({} ago)",
                                 format_count(report.completeness.events), age_words(age)),
           emphasis::heading);
  const auto before = out.lines();
  if (device != nullptr) {
    terminal::add_growth(out, report, *device, room - 1, how.columns);
  }
  const auto used = out.lines() - before + 1;
  if (used < room && terminal::advice_lines(report, how.columns) != 0) {
    terminal::add_advice(out, report, room - used, how.columns);
  }
  if (out.lines() == before) {
    out.line("  nothing to change was found", emphasis::faint);
  }
}

[[nodiscard]] std::string progress_words(const followed_run& run) {
  return fmt::format("reading what was recorded before: {:.0f} %", 100 * run.share_read());
}

void add_headline(text::page& out, const shown_run& shown, std::size_t columns) {
  const auto& run = shown.run;
  const auto* const record = run.replayed().device(shown.device);
  run::headline answer;
  if (is_whole(shown)) {
    answer = shown.report->report.answer;
  } else if (record == nullptr) {
    return;
  } else {
    const auto ran_out = std::ranges::any_of(
        run.replayed().ooms(), [&](const auto& one) { return one.device == shown.device; });
    answer = run::headline_so_far(
        {shown.device, record->allocator.peak_reserved().totals.reserved,
         record->allowed().value_or(record->facts.total_bytes), ran_out,
         growth_of(shown, shown.device)},
        [&](trace::stack_id stack) { return code::frames_of(run.names(), stack); });
  }
  terminal::add_headline(out, answer, columns);
}

}  // namespace

bool is_whole(const shown_run& shown) {
  return shown.report != nullptr && shown.run.is_over() &&
         shown.report->report.completeness.events == shown.run.facts().events;
}

const verdicts::verdict* growth_of(const shown_run& shown, std::uint32_t device) {
  const auto* const last =
      is_whole(shown) ? verdicts::of_device(shown.report->report.findings, device) : nullptr;
  if (last != nullptr) return last;
  const auto* const held = shown.run.held(device);
  return held == nullptr || !held->growth ? nullptr : &*held->growth;
}

std::string words_of(const followed_run& run) {
  switch (run.state()) {
    case run_state::reading:
      return progress_words(run);
    case run_state::running:
      return "running";
    case run_state::ended:
      return "ended by itself";
    case run_state::killed:
      return "killed, or ended without a word";
    case run_state::stopped:
      return "its recorder has given up";
    case run_state::replaced:
      return "its trace was cut, removed or replaced";
    case run_state::damaged:
      return "its trace is damaged: " + run.damage();
  }
  return {};
}

std::string name_of(const followed_run& run) {
  const auto rank = run.rank();
  return rank ? fmt::format("rank {}", *rank) : fmt::format("pid {}", run.header().process_id);
}

text::page frame_of(const shown_run& shown, const frame_options& how) {
  const auto& run = shown.run;
  const auto facts = run.facts();
  const auto device = shown.device;
  text::page out;
  const auto world = run.world_size();
  auto title = fmt::format("memtrace live: {}{}, {} {} {}", name_of(run),
                           world && *world > 1 ? fmt::format(" of {}", *world) : std::string(),
                           words_of(run), run.state() == run_state::running ? "for" : "after",
                           format_seconds(facts.end_time_ns));
  if (how.paused) title += ", display paused";
  out.line(title, run.state() == run_state::killed || run.state() == run_state::damaged
                      ? emphasis::alarm
                      : emphasis::heading);
  add_headline(out, shown, how.columns);
  out.line("  " + command_of(run), emphasis::faint);
  const auto used = run.devices();
  const auto* const record = run.replayed().device(device);
  if (used.empty() || record == nullptr) {
    out.line("  no GPU memory has been used yet");
  } else {
    const auto name = std::string(run.names()[record->facts.name]);
    auto about =
        fmt::format("  cuda:{}{}{}; {}", device, name.empty() ? "" : " " + name,
                    record->facts.total_bytes == 0 ? std::string()
                                                   : ", " + format_bytes(record->facts.total_bytes),
                    step_words(run.steps(device)));
    if (used.size() > 1) about += fmt::format("; {} GPUs in use", used.size());
    out.line(about);
    add_totals(out, run, device);
    if (!run.replayed().ooms().empty()) {
      const auto times = run.replayed().ooms().size();
      out.line(fmt::format("  out of memory: {} time{}", times, times == 1 ? "" : "s"),
               emphasis::alarm);
    }
    add_growth(out, shown, device);
    add_sparkline(out, run, device, how);
  }
  if (facts.dropped_events != 0) {
    out.line(fmt::format("  {} events were dropped: figures are incomplete",
                         format_count(facts.dropped_events)),
             emphasis::alarm);
  }
  const std::size_t last = how.keys ? 1 : 0;
  const auto left = [&] {
    return how.rows == 0 ? std::size_t{60} : how.rows - std::min(how.rows, out.lines() + last);
  };
  if (const auto* const held = run.held(device)) {
    const auto for_advice = std::min<std::size_t>(left() / 5, 3);
    const auto two = left() - std::min(left(), for_advice);
    if (two >= 6) {
      const auto rows = how.rows == 0 ? most_categories + 3 : std::max<std::size_t>(2, two / 2 - 1);
      add_categories(out, *held, std::min(rows, attribution::category_count));
      const auto for_lines = left() - std::min(left(), for_advice + 1);
      add_lines(out, *held, how, std::min(most_lines, for_lines));
    } else if (two >= 3) {
      add_lines(out, *held, how, std::min(most_lines, two - 1));
    }
  }
  if (!used.empty()) add_report(out, shown, how, left());
  if (how.keys) {
    while (out.lines() + 1 < how.rows) out.blank();
    std::string keys = "q quit  h help  space pause  t a p sort";
    if (used.size() > 1) keys += "  g next GPU";
    if (shown.processes > 1) {
      keys += fmt::format("  < > {} of {}", shown.number + 1, shown.processes);
      if (shown.others_over != 0) keys += fmt::format(" ({} over)", shown.others_over);
    }
    out.line(keys, emphasis::faint);
  }
  return out;
}

text::page help_page(const frame_options& how) {
  text::page out;
  out.line("memtrace live: keys", emphasis::heading);
  for (const char* const line :
       {"  q           quit; the program goes on, come back any time",
        "  < >         the process (rank) before, the next one; also the arrow keys",
        "  g           the next GPU of this process", "  t           sort lines by bytes now",
        "  a           sort lines by number of blocks now",
        "  p           sort lines by bytes at the peak of the run",
        "  space       pause the display; recording goes on", "  h ?         this page, and back",
        "", "Allocated, reserved and all peaks are exact up to the latest event read. By category",
        "and by line they are of the latest look, a moment ago. Advice reads the recording",
        "from its start each time: as of when, it says."}) {
    out.line(line);
  }
  while (how.rows != 0 && out.lines() < how.rows) out.blank();
  return out;
}

}  // namespace memtrace::live
