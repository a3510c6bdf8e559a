// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/show/terminal/parts.h"

namespace memtrace::terminal {

namespace {

[[nodiscard]] const run::device_report* chosen_device(const run::process_report& process,
                                                      const run::oom_report* oom) {
  if (process.devices.empty()) return nullptr;
  const auto wanted = oom != nullptr ? std::optional(oom->facts.device) : process.answer.device;
  const auto found = std::ranges::find_if(
      process.devices, [&](const auto& device) { return device.facts.device == wanted; });
  if (found != process.devices.end()) return &*found;
  return &*std::ranges::max_element(process.devices, {}, [](const run::device_report& device) {
    return device.peak_allocated.totals.allocated;
  });
}

void add_run(text::page& out, const run::process_report& process) {
  const auto& run = process.run;
  const auto command = text::join(run.command, " ");
  out.line(command.empty() ? process.path : command, text::emphasis::faint);
  const auto rank = run.rank ? fmt::format("rank {}{}", *run.rank,
                                           run.world_size ? fmt::format(" of {}", *run.world_size)
                                                          : std::string())
                             : std::string();
  const auto labelled = [](const char* label, const std::string& value) {
    return value.empty() ? value : fmt::format("{} {}", label, value);
  };
  out.line(
      "  " + text::join({run.snapshot ? std::string()
                                      : fmt::format("pid {}{}", run.pid,
                                                    run.host.empty() ? "" : " on " + run.host),
                         rank, text::format_seconds(run.duration_ns),
                         run.exit_status.value_or(0) == 0
                             ? std::string()
                             : fmt::format("exit status {}", *run.exit_status),
                         run.snapshot ? std::string()
                                      : text::format_count(process.completeness.events) + " events",
                         labelled("PyTorch", run.torch), labelled("Python", run.python),
                         labelled("allocator", run.alloc_conf)},
                        ", "),
      text::emphasis::faint);
}

// "CUDA functions that pass unseen: cuMemAllocLater (CUDA 13.1), cudaMalloc (another of that name)"
[[nodiscard]] std::string unknown_entry_points_in_brief(
    const std::vector<replay::unknown_entry_point>& all) {
  constexpr std::size_t shown = 3;
  std::string text = "CUDA functions that pass unseen: ";
  for (std::size_t i = 0; i < std::min(all.size(), shown); ++i) {
    if (i != 0) text += ", ";
    text += all[i].name;
    if (all[i].is_another) {
      text += " (another of that name)";
    } else if (all[i].cuda_version != 0) {
      text +=
          fmt::format(" (CUDA {}.{})", all[i].cuda_version / 1000, all[i].cuda_version % 1000 / 10);
    }
  }
  return all.size() <= shown ? text : text + fmt::format(" and {} more", all.size() - shown);
}

[[nodiscard]] std::string dropped_in_brief(const trace::completeness& facts) {
  const auto events = text::format_count(facts.dropped_events);
  if (facts.gaps.empty()) return fmt::format("{} events were dropped", events);
  return fmt::format(
      "{} events were dropped, the first at {}, because the disk did not take them: figures after "
      "that are incomplete",
      events, text::format_seconds(facts.gaps.front().begin_ns));
}

[[nodiscard]] std::vector<std::string> gaps(const run::process_report& process) {
  const auto& facts = process.completeness;
  std::vector<std::string> found;
  if (const auto before = process.run.allocated_before) {
    found.push_back(fmt::format("recorded while it ran: {} were allocated before, by unknown lines",
                                text::format_bytes(*before)));
  }
  if (const auto& unknown = process.run.unknown_sizes; !unknown.empty()) {
    found.push_back(fmt::format(
        "sizes that hang on computed values are 0 in a dry run ({}): --routing and --masks choose "
        "them",
        code::places_of(unknown)));
  }
  if (!facts.clean_exit) found.emplace_back("the program was killed, or is still running");
  if (facts.truncated) {
    found.push_back(facts.missing_events == 0
                        ? std::string("the file is cut off")
                        : fmt::format("the file is cut off, at least {} events are missing",
                                      text::format_count(facts.missing_events)));
  }
  if (facts.dropped_events != 0) found.push_back(dropped_in_brief(facts));
  const auto& stacks = process.stacks;
  if (stacks.unresolved != 0) {
    found.push_back(fmt::format("{} of {} allocations have no Python frame",
                                text::format_count(stacks.unresolved),
                                text::format_count(stacks.allocations)));
  }
  if (!process.unknown_entry_points.empty()) {
    found.push_back(unknown_entry_points_in_brief(process.unknown_entry_points));
  }
  std::uint64_t mismatches = 0;
  for (const auto& device : process.devices) mismatches += device.mismatches;
  if (mismatches != 0) {
    found.push_back(
        fmt::format("totals differed from PyTorch's own {} times", text::format_count(mismatches)));
  }
  return found;
}

// As many to a line as fit into that width.
[[nodiscard]] std::vector<std::string> packed(const std::vector<std::string>& parts) {
  std::vector<std::string> lines;
  for (const auto& part : parts) {
    if (lines.empty() || lines.back().size() + part.size() + 2 > text::usual_columns) {
      lines.push_back(part);
    } else {
      lines.back() += "; " + part;
    }
  }
  return lines;
}

[[nodiscard]] std::size_t incomplete_others(const run::run_report& processes,
                                            const run::process_report& shown) {
  return static_cast<std::size_t>(
      std::ranges::count_if(processes, [&](const run::process_report& process) {
        return &process != &shown && !gaps(process).empty();
      }));
}

void add_completeness(text::page& out, const run::run_report& processes,
                      const run::process_report& process) {
  if (process.run.snapshot) {
    out.line(fmt::format("{} events{}", text::format_count(process.completeness.events),
                         how_a_snapshot_ends(*process.run.snapshot)),
             text::emphasis::faint);
  }
  auto missing = gaps(process);
  if (const auto count = incomplete_others(processes, process); count != 0) {
    missing.push_back(fmt::format("other traces that are incomplete: {}", count));
  }
  for (const auto& line : packed(missing)) out.line("  " + line, text::emphasis::faint);
  if (!process.run.python_stacks.empty() && process.run.python_stacks != "on") {
    out.line("Python stacks: " + process.run.python_stacks, text::emphasis::faint);
  }
  for (const auto& sentence : unknown_meaning(process)) {
    out.line(sentence, text::emphasis::faint);
  }
  if (const auto line = unmatched_expectations(processes, process); !line.empty()) {
    out.line(line, text::emphasis::faint);
  }
  if (process.warnings.empty() || process.run.snapshot) return;
  const auto more = process.warnings.size() - 1;
  out.line("Missing: " + process.warnings.front() +
               (more == 0 ? "" : fmt::format(" (and {} more messages)", more)),
           text::emphasis::faint);
}

[[nodiscard]] std::string name_of(const run::run_facts& run) {
  return (run.rank ? fmt::format("rank {}, ", *run.rank) : std::string()) +
         fmt::format("pid {}, ", run.pid);
}

// Devices and processes that are not shown in full.
[[nodiscard]] std::vector<std::string> others(const run::run_report& processes,
                                              const run::process_report& shown,
                                              const run::device_report* device) {
  std::vector<std::string> lines;
  for (const auto& process : processes) {
    for (const auto& other : process.devices) {
      if (&other == device) continue;
      lines.push_back(fmt::format(
          "  {}cuda:{} peak allocated {}{}{}{}",
          &process == &shown ? std::string() : name_of(process.run), other.facts.device,
          text::format_bytes(other.peak_allocated.totals.allocated),
          other.reserved() ? ", reserved " + text::format_bytes(*other.reserved()) : "",
          std::ranges::any_of(
              process.ooms,
              [&](const run::oom_report& oom) { return oom.facts.device == other.facts.device; })
              ? ", ran out of memory"
              : "",
          growth_in_brief(process, other.facts.device)));
    }
    if (process.devices.empty() && &process != &shown) {
      lines.push_back(fmt::format("  pid {} {}", process.run.pid,
                                  process.completeness.truncated
                                      ? "has no event in the readable part of its trace"
                                      : "used no GPU memory"));
    }
  }
  return lines;
}

void add_others(text::page& out, const std::vector<std::string>& lines, std::size_t room) {
  if (lines.empty()) return;
  const auto shown = lines.size() <= room ? lines.size() : room - 1;
  for (std::size_t i = 0; i < shown; ++i) out.line(lines[i]);
  if (shown < lines.size()) out.line(fmt::format("  and {} more", lines.size() - shown));
}

// The moment that is told of: the one that was asked for, else where memory ran out, else the
// peak.
struct shown_moment {
  const run::memory_view* view = nullptr;  // null: only the call sites are known
  std::string heading;
  const std::vector<run::call_site>* sites = nullptr;
  std::uint64_t total = 0;
};

[[nodiscard]] shown_moment choose_moment(const run::device_report& device,
                                         const run::oom_report* oom) {
  const auto at = [](const run::memory_view& view, std::string heading) {
    return shown_moment{&view, std::move(heading), &view.sites, view.total};
  };
  if (oom != nullptr && oom->held) return at(*oom->held, "What it was when memory ran out");
  if (device.at) {
    const auto when = when_in_training(device, *device.at);
    return at(*device.at,
              fmt::format("What it is after event {}, {} allocated{}",
                          text::format_count(device.at->event),
                          text::format_bytes(device.at->total), when.empty() ? "" : ", " + when));
  }
  if (oom != nullptr) return {nullptr, {}, &oom->holders, oom->facts.totals.allocated};
  return at(device.at_peak, "What it is at the peak");
}

void add_memory(text::page& out, const run::device_report& device, const run::oom_report* oom,
                std::size_t room) {
  constexpr std::size_t most_categories = 7;
  constexpr std::size_t least_categories = 4;
  constexpr std::size_t most_modules = 4;
  constexpr std::size_t lines_of_code = 4;  // that categories leave to them
  const auto moment = choose_moment(device, oom);
  const auto begin = out.lines();
  const auto left = [&] { return room - std::min(room, out.lines() - begin); };
  const bool told = moment.view != nullptr &&
                    std::ranges::any_of(moment.view->categories, [](const run::category_row& row) {
                      return row.what != attribution::category::unknown;
                    });
  if (told && left() > 2) {
    const auto others = std::min(lines_of_code, left() - 1);
    const auto rows = std::max(least_categories, left() - 1 - others);
    add_categories(out, *moment.view, moment.heading,
                   std::min({most_categories, rows, left() - 1}));
  }
  if (told && left() > 6) add_modules(out, *moment.view, std::min(most_modules, left() - 5));
  if (left() > 2) add_lines_of_code(out, *moment.sites, moment.total, left() - 1);
}

// For what grows: what is left beside what is told already, the device, and other devices.
[[nodiscard]] std::size_t growth_lines(std::size_t taken) {
  constexpr std::size_t most = 12;
  constexpr std::size_t least = 4;
  constexpr std::size_t of_device = 9;
  const std::size_t others = taken + of_device;
  return std::clamp(most_lines - std::min<std::size_t>(others, most_lines), least, most);
}

// The same for why more is reserved than allocated, after `taken` lines at either end.
[[nodiscard]] std::size_t fragmentation_lines(std::size_t taken, bool out_of_memory) {
  constexpr std::size_t most = 6;
  const std::size_t others = taken + (out_of_memory ? 14 : 11);
  return std::min(most, most_lines - std::min<std::size_t>(others, most_lines));
}

}  // namespace

void add_headline(text::page& out, const run::headline& what, std::size_t columns) {
  const bool alarms =
      what.what == run::standing::out_of_memory || what.what == run::standing::leaks;
  for (const auto& line : text::wrap(run::text_of(what), columns))
    out.line(line, alarms ? text::emphasis::alarm : text::emphasis::heading);
}

std::string to_text(const run::run_report& processes, const text::style& style) {
  const auto& process = run::decisive_process(processes);
  const auto* const oom = run::decisive_oom(process);
  const auto* const device = chosen_device(process, oom);
  text::page end(style.width);
  if (device != nullptr) {
    add_phases_and_steps(end, process, *device);
    add_training(end, process, *device);
    // Where memory ran out, a pass was cut short: less was measured than its formula expects.
    if (oom == nullptr) {
      if (auto line = expected_in_brief(process, *device); !line.empty()) end.line(line);
    }
  }
  add_host_limit(end, processes);
  add_completeness(end, processes, process);
  add_run(end, process);
  end.sentence(fmt::format("Next: memtrace report {} --by module (or advice, site, step); "
                           "--json FILE",
                           process.path),
               text::emphasis::faint);
  text::page out(style.width);
  add_headline(out, run::headline_of(processes), text::columns_of(style));
  // Where memory cannot wake up, it is the pool's own; what others hold has to go first.
  if (process.outside_refusal && process.outside_refusal->facts.totals.asleep == 0 &&
      process.outside_refusal->facts.totals.reserved >
          process.outside_refusal->facts.totals.allocated) {
    out.sentence(
        "What PyTorch's pool has freed it keeps. To leave room for what asks CUDA itself, such as "
        "NCCL or another process, cap the pool with torch.cuda.set_per_process_memory_fraction().");
  }
  for (const auto& sentence : process.run.settings_without_effect) out.sentence(sentence);
  for (const auto& line : what_a_snapshot_is(process)) out.line(line);
  if (device != nullptr) {
    if (oom != nullptr) add_oom(out, process, *oom, text::columns_of(style));
    add_growth(out, process, *device, growth_lines(out.lines() + end.lines()),
               text::columns_of(style));
    add_fragmentation(out, process, *device,
                      fragmentation_lines(out.lines() + end.lines(), oom != nullptr),
                      text::columns_of(style));
    add_device(out, process, *device);
    for (const auto& line : calm_lines(process, device->facts.device, text::columns_of(style))) {
      out.line(line);
    }
    add_graphs(out, *device);
    const auto ranks = ranks::find_ranks(processes);
    if (ranks.rows.size() > 1) {
      add_ranks(out, ranks, oom == nullptr ? 5 : 3, text::columns_of(style));
    } else {
      add_others(out, others(processes, process, device), oom == nullptr ? 4 : 2);
    }
    const auto left = [&] {
      return most_lines - std::min<std::size_t>(out.lines() + end.lines(), most_lines);
    };
    // The categories of memory need some lines, too; where it ran out, what to do comes before them.
    const std::size_t least_memory = oom == nullptr ? 10 : 4;
    const auto wanted = advice_lines(process, text::columns_of(style));
    const auto advice = std::min(wanted, left() - std::min(left(), least_memory));
    add_memory(out, *device, oom, left() - advice);
    add_advice(out, process, std::max(advice, std::min(wanted, left())), text::columns_of(style));
  }
  return out.render(style.colour, style.width) + end.render(style.colour, style.width);
}

}  // namespace memtrace::terminal
