// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/what_if/runs.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"

namespace memtrace::what_if {

namespace {

using allocator::outcome;

constexpr std::size_t widest_option = 46;

[[nodiscard]] std::string range(std::uint64_t least, std::uint64_t most,
                                std::string (*show)(std::uint64_t)) {
  if (least == most) return show(least);
  auto low = show(least), high = show(most);
  // "10.8 to 11.2 GiB" where the units are the same.
  const auto unit = high.find(' ');
  if (low == high) return high;
  if (unit != high.npos && low.ends_with(high.substr(unit))) low.resize(low.find(' '));
  return low + " to " + high;
}

[[nodiscard]] std::string option_name(const replayed_option& option) {
  auto text = option.alloc_conf.empty() ? std::string("nothing set") : option.alloc_conf;
  return option.is_recorded ? text + " (recorded)" : text;
}

[[nodiscard]] bool runs_out_always(const replayed_option& option) {
  return option.range.best.out_of_memory.has_value();
}

[[nodiscard]] std::string peak_cell(const replayed_device& device, const replayed_option& option) {
  if (runs_out_always(option)) return "out of memory";
  if (&representative(device, option) == &device.exact.replayed) {
    return text::format_bytes(device.exact.replayed.reserved.bytes);
  }
  const auto& [lowest, best, worst, depends] = option.range;
  if (worst.out_of_memory) return text::format_bytes(best.reserved.bytes) + ", or none left";
  return range(best.reserved.bytes, worst.reserved.bytes, text::format_bytes);
}

[[nodiscard]] std::string fit_cell(const replayed_option& option) {
  if (!option.fits) return "none tested";
  const auto& fits = *option.fits;
  if (fits.retries == 0) return text::format_bytes(fits.usable_bytes);
  return fmt::format("{}, {} {}", text::format_bytes(fits.usable_bytes),
                     text::format_count(fits.retries), fits.retries == 1 ? "retry" : "retries");
}

struct row {
  std::string option, peak, allocated, retries, calls, fits;
};

[[nodiscard]] row row_of(const replayed_device& device, const replayed_option& option) {
  const auto& shown = representative(device, option);
  return {option_name(option),
          peak_cell(device, option),
          text::format_bytes(shown.allocated.bytes),
          text::format_count(shown.retries),
          text::format_count(shown.calls.total()),
          fit_cell(option)};
}

void add_table(text::page& out, const replayed_device& device) {
  std::vector<row> rows = {
      {"options", "peak reserved", "allocated", "retries", "driver calls", "fits in"}};
  for (const auto& option : device.options) rows.push_back(row_of(device, option));
  const auto widest = [&](std::string row::*column, std::size_t most) {
    std::size_t width = 0;
    for (const auto& one : rows) width = std::max(width, std::min((one.*column).size(), most));
    return width;
  };
  const auto option = widest(&row::option, widest_option);
  const auto peak = widest(&row::peak, 99), allocated = widest(&row::allocated, 99);
  const auto retries = widest(&row::retries, 99), calls = widest(&row::calls, 99);
  for (const auto& one : rows) {
    const bool long_name = one.option.size() > option;
    if (long_name) out.line(one.option);
    out.line(fmt::format("{:<{}}  {:>{}}  {:>{}}  {:>{}}  {:>{}}  {}", long_name ? "" : one.option,
                         option, one.peak, peak, one.allocated, allocated, one.retries, retries,
                         one.calls, calls, one.fits),
             &one == rows.data() ? text::emphasis::heading : text::emphasis::none);
  }
}

void add_out_of_memory(text::page& out, const replayed_device& device) {
  for (const auto& option : device.options) {
    const auto& at = option.range.worst.out_of_memory;
    if (!at) continue;
    const auto where = option.runs_out_at.where;
    out.line(fmt::format("{}: {}out of memory at event {}, {} more{}", option_name(option),
                         runs_out_always(option) ? "" : "with some addresses ",
                         text::format_count(at->event), text::format_bytes(at->requested),
                         where.empty() ? "" : " for " + where),
             text::emphasis::alarm);
  }
}

[[nodiscard]] std::string exactness_sentence(const replayed_device& device) {
  const auto& exact = device.exact;
  if (exact.exact) {
    return fmt::format("The model repeats the recording exactly: {} events compared.",
                       text::format_count(exact.events));
  }
  if (exact.first) {
    return fmt::format(
        "The model differs from the recording at event {} ({}: recorded {}, replayed "
        "{}): take what follows as an estimate.",
        text::format_count(exact.first->event), exact.first->what, exact.first->recorded,
        exact.first->replayed);
  }
  return fmt::format("Nobody knows whether the model repeats the recording: {}.",
                     device.doubts.empty() ? "nothing to compare with" : device.doubts.front());
}

void add_device(text::page& out, const replayed_device& device) {
  const auto size = device.usable_bytes == 0 ? std::string("of unknown size")
                                             : fmt::format("{} of {} for PyTorch",
                                                           text::format_bytes(device.usable_bytes),
                                                           text::format_bytes(device.total_bytes));
  out.line(fmt::format("cuda:{} {}, {}", device.index,
                       device.on_recorded_device ? device.name : "instead of " + device.name, size),
           text::emphasis::heading);
  out.line(fmt::format("{} requests. {}", text::format_count(device.requests),
                       exactness_sentence(device)),
           device.exact.exact ? text::emphasis::none : text::emphasis::alarm);
  out.blank();
  add_table(out, device);
  add_out_of_memory(out, device);
}

void add_notes(text::page& out, const std::vector<replayed_process>& processes) {
  bool depends = false;
  std::uint64_t refused = 0, early = 0, step = 0;
  for (const auto& process : processes) {
    for (const auto& device : process.devices) {
      step = std::max(step, device.capacity_step);
      for (const auto& option : device.options) {
        depends = depends || option.range.depends_on_addresses;
        refused = std::max(refused, option.range.worst.served_refusals);
        early = std::max(early, option.range.worst.early_completions);
      }
    }
  }
  out.blank();
  out.line("This holds as long as the program asks for the same memory whatever the options are.",
           text::emphasis::faint);
  if (depends) {
    out.line(
        "Ranges: which addresses the driver would give is not known, so several ways to give "
        "them were replayed.",
        text::emphasis::faint);
  }
  if (refused != 0) {
    out.line(
        "The recorded run was refused memory that it would get here; what it would have done "
        "with it is not known.",
        text::emphasis::faint);
  }
  if (early != 0) {
    out.line(
        "Memory that other streams still used came back when the recorded run waited for it; "
        "without the wait peaks may be higher.",
        text::emphasis::faint);
  }
  out.line(
      fmt::format("Fits in: the smallest that was tested, in steps of {}; with more memory the "
                  "program need not fit.",
                  text::format_bytes(step)),
      text::emphasis::faint);
}

}  // namespace

const outcome& representative(const replayed_device& device, const replayed_option& option) {
  const bool as_it_was = option.is_recorded && device.on_recorded_device && device.exact.exact;
  return as_it_was ? device.exact.replayed : option.range.worst;
}

std::string to_text(const std::vector<replayed_process>& processes, const text::style& style) {
  text::page out;
  for (const auto& process : processes) {
    if (&process != processes.data()) out.blank();
    const auto number =  // which a snapshot does not tell
        process.pid == 0 ? std::string() : fmt::format(", pid {}", process.pid);
    out.line(process.path + number, text::emphasis::heading);
    for (const auto& device : process.devices) {
      if (&device != process.devices.data()) out.blank();
      add_device(out, device);
    }
  }
  add_notes(out, processes);
  return out.render(style.colour, style.width);
}

}  // namespace memtrace::what_if
