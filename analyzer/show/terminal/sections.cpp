// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"
#include "analyzer/judge/host/judge_host.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/model/allocator/rounding.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::terminal {

namespace {

using replay::unused_reason;

// Less than a twentieth of what is reserved would not have helped.
constexpr std::uint64_t least_unused = 20;

// Why reserved memory is unused, largest reason first.
[[nodiscard]] std::string reasons(const replay::device_totals& totals) {
  struct share {
    std::uint64_t bytes;
    const char* text;
  };
  const auto bytes = [&](unused_reason why) {
    return totals.unused[static_cast<std::size_t>(why)];
  };
  std::vector<share> all = {
      {bytes(unused_reason::split_segments), "pieces between blocks in use"},
      {bytes(unused_reason::empty_segments), "empty segments"},
      {bytes(unused_reason::expandable), "mapped in expandable segments"},
      {bytes(unused_reason::private_pools), "in private pools"},
      {totals.pending, "freed, waiting for another stream"},
  };
  std::erase_if(all, [](const share& one) { return one.bytes == 0; });
  std::ranges::stable_sort(all, std::greater(), &share::bytes);
  std::vector<std::string> parts;
  for (const auto& one : all) {
    parts.push_back(
        all.size() == 1 ? one.text : fmt::format("{} {}", text::format_bytes(one.bytes), one.text));
  }
  return text::join(parts, ", ");
}

[[nodiscard]] std::string graph_words(const replay::device_totals& totals) {
  return text::format_bytes(totals.graph_pools) + " that replays of CUDA graphs need";
}

void add_reserved(text::page& out, const run::device_report& device) {
  const auto& top = device.peak_reserved.totals;
  const auto unused = top.all_unused();
  const auto why = unused == 0 ? std::string() : reasons(top);  // none where segments are unknown
  auto line = fmt::format("  peak reserved  {:>11}  at {}, {} of it unused{}",
                          text::format_bytes(top.reserved),
                          text::format_seconds(device.peak_reserved.time_ns),
                          text::format_bytes(unused), why.empty() ? "" : ": " + why);
  if (top.graph_pools == 0) return out.line(line);
  out.line(line + ";");
  out.line(std::string(30, ' ') + graph_words(top));
}

// The request, and what PyTorch's own message says instead where that is another figure.
[[nodiscard]] std::string request(const run::process_report& process, std::uint64_t bytes) {
  const auto asked = text::format_bytes(bytes);
  const auto segment = text::format_bytes(allocator::segment_bytes({}, bytes));
  const bool default_sizes = process.run.alloc_conf.find("large_segment_size") == std::string::npos;
  if (asked == segment || !default_sizes) return asked;
  return fmt::format("{} (PyTorch's message says {}, the segment for it)", asked, segment);
}

[[nodiscard]] std::string unexplained_words(std::int64_t bytes) {
  const auto size = text::format_bytes(static_cast<std::uint64_t>(std::llabs(bytes)));
  return bytes < 0 ? size + " less than the sum of these" : size + " unexplained";
}

// As many to a line as fit; what follows the first line is `indent` columns in.
void add_packed(text::page& out, std::string line, std::size_t columns,
                const std::vector<std::string>& parts) {
  const std::string indent(columns, ' ');
  bool is_first = true;
  for (const auto& part : parts) {
    if (!is_first && line.size() + part.size() + 2 > text::usual_columns) {
      out.line(line + ",");
      line = indent;
      is_first = true;
    }
    line += (is_first ? "" : ", ") + part;
    is_first = false;
  }
  out.line(line);
}

// Beyond this a few more workers, or a checkpoint being written, are enough.
constexpr double near_share = 0.9;

[[nodiscard]] double share_of_limit(const host::host_samples& host) {
  if (!host.limit || *host.limit == 0 || !host.limit_from) return 0;
  return static_cast<double>(host.limit_used.peak()) / static_cast<double>(*host.limit);
}

[[nodiscard]] std::string counted(std::uint64_t number, const char* one, const char* many) {
  return number == 1 ? std::string(one) : text::format_count(number) + many;
}

// What would be missing if all of it woke up where the recording ends.
[[nodiscard]] std::string words_of_end(const run::device_report& device,
                                       const run::sleep_report& found) {
  const auto bytes = text::format_bytes(found.at_end);
  const auto capacity = device.facts.total_bytes;
  const auto needed = found.used_at_end + found.at_end;
  if (capacity == 0 || found.used_at_end == 0 || needed <= capacity) {
    return bytes + " still asleep at the end";
  }
  return fmt::format("{} still asleep at the end, {} more than is free there", bytes,
                     text::format_bytes(needed - capacity));
}

// "at most (1 block, serve.py:14), 8 times; at a wake-up 14 GiB must be free again"
[[nodiscard]] std::string sleep_words(const run::device_report& device) {
  const auto& found = *device.asleep;
  auto who = counted(found.blocks, "1 block", " blocks");
  if (!found.sites.empty()) {
    const auto& site = found.sites.front();
    who += ", " + code::short_place(site.frames, site.thread);
    if (found.sites.size() > 1) who += " and other lines";
  }
  const auto at_peak = device.peak_allocated.totals.asleep;
  const auto most = text::format_bytes(found.facts.most);
  return fmt::format("at most ({}), {}{}; {}", who, counted(found.facts.times, "once", " times"),
                     at_peak == 0 ? "" : ", " + text::format_bytes(at_peak) + " at the peak",
                     found.at_end == 0 ? "at a wake-up " + most + " must be free again"
                                       : words_of_end(device, found));
}

void add_never_freed(text::page& out, const run::device_report& device) {
  std::uint64_t bytes = 0;
  for (const auto& site : device.never_freed) bytes += site.bytes;
  if (bytes == 0) return;
  std::vector<std::string> lines;
  for (const auto& line : run::fold_to_user_lines(device.never_freed)) {
    lines.push_back(fmt::format("{} at {} ({} block{})", text::format_bytes(line.bytes), line.where,
                                text::format_count(line.blocks), line.blocks == 1 ? "" : "s"));
    if (lines.size() == 3) break;
  }
  const auto begin = fmt::format("  never freed    {:>11}  ", text::format_bytes(bytes));
  add_packed(out, begin, begin.size(), lines);
}

}  // namespace

void add_device(text::page& out, const run::process_report& process,
                const run::device_report& device) {
  const auto capacity = device.facts.total_bytes == 0
                            ? std::string()
                            : fmt::format(", {}", text::format_bytes(device.facts.total_bytes));
  const auto allowed = device.allowed
                           ? fmt::format(", {} of it for PyTorch (set_per_process_memory_fraction)",
                                         text::format_bytes(*device.allowed))
                           : std::string();
  const auto* const simulated = process.run.simulated_gpu.empty() ? "" : " (simulated)";
  out.line(fmt::format("cuda:{}{}{}{}{}{}", device.facts.device, device.name.empty() ? "" : " ",
                       device.name, capacity, simulated, allowed),
           text::emphasis::heading);
  const auto& peak = device.peak_allocated;
  const auto when =
      device.from_cuda_calls ? std::string() : when_in_training(device, device.at_peak);
  const auto steps = !when.empty() && device.steps.count != 0 && device.at_peak.step
                         ? fmt::format(" (of 0 … {})", device.steps.count - 1)
                         : std::string();
  out.line(fmt::format("  peak allocated {:>11}  at {} (event {}){}{}",
                       text::format_bytes(peak.totals.allocated),
                       text::format_seconds(peak.time_ns), text::format_count(peak.event),
                       when.empty() ? "" : ", " + when, steps));
  if (device.from_cuda_calls) {
    out.line("  by CUDA calls alone: PyTorch's caching allocator was not used");
    add_never_freed(out, device);
  } else if (device.reserved()) {
    add_reserved(out, device);
  }
  if (device.asleep) {
    out.line(fmt::format("  asleep         {:>11}  {}",
                         text::format_bytes(device.asleep->facts.most), sleep_words(device)));
  }

  // Before it says that memory ran out, PyTorch always tries once more.
  const auto errors = static_cast<std::uint64_t>(std::ranges::count_if(
      process.ooms,
      [&](const run::oom_report& oom) { return oom.facts.device == device.facts.device; }));
  if (device.retries > errors) {
    out.line(
        fmt::format("  retries        {:>11}  CUDA refused memory, PyTorch gave its cache back",
                    text::format_count(device.retries)));
  }
  add_device_use(out, device);
  if (!device.activity) return;
  for (const auto& words :
       {device::kernel_words(*device.activity), device::migration_words(*device.activity)}) {
    if (!words.empty()) out.line("  as CUPTI says  " + words);
  }
}

void add_labelled(text::page& out, std::string_view label, const std::string& words,
                  std::size_t columns) {
  constexpr std::size_t indent = 17;
  for (const auto& line : text::wrap(words, std::max<std::size_t>(columns, 40) - indent)) {
    out.line(fmt::format("  {:<14} {}", label, line));
    label = {};
  }
}

// What kept most of it then; a tenth of all is worth a line.
void add_retainers(text::page& out, const run::process_report& process, const run::oom_report& oom,
                   std::size_t columns) {
  // Beside what grows, which is told with what keeps it, the first is enough.
  const std::size_t most = run::grows_on(process, oom.facts.device) ? 1 : 3;
  constexpr std::uint64_t least_part = 10;
  // Of several that were caught the heap scan is of a later one.
  const bool may_be_later = oom.facts.caught && process.ooms.size() > 1;
  std::size_t told = 0;
  for (const auto& one : oom.retained_by) {
    if (told == most || one.bytes < oom.facts.totals.allocated / least_part) break;
    add_labelled(out, told++ == 0 ? "kept by:" : "",
                 fmt::format("{:>8}  {}{}", text::brief_bytes(one.bytes), verdicts::describe(one),
                             may_be_later ? ", at a later failure" : ""),
                 columns);
  }
  if (oom.fix) add_labelled(out, "write instead:", oom.fix->change, columns);
}

void add_oom(text::page& out, const run::process_report& process, const run::oom_report& oom,
             std::size_t columns) {
  const auto& facts = oom.facts;
  const auto place = oom.frames.empty()
                         ? code::place_of_request(oom.frames, oom.forward, oom.thread)
                         : code::describe_place(oom.frames, oom.thread);
  const char* const where = !oom.frames.empty()             ? "at"
                            : place.starts_with("backward") ? "in the"
                                                            : "with";
  out.sentence(fmt::format("Out of memory at {}: tried to allocate {} {} {}",
                           text::format_seconds(facts.time_ns), request(process, facts.requested),
                           where, place),
               text::emphasis::alarm);
  const auto unused = facts.totals.all_unused();
  const auto used = facts.totals.reserved + facts.device_free;
  std::string capacity;
  std::string outside;
  if (oom.capacity && *oom.capacity >= used) {
    const auto bytes = text::format_bytes(*oom.capacity);
    capacity = facts.allowed
                   ? fmt::format("of the {} that set_per_process_memory_fraction allows: ", bytes)
                   : fmt::format("of the GPU's {}: ", bytes);
    if (*oom.capacity != used) {
      outside = fmt::format("{} outside PyTorch, ", text::format_bytes(*oom.capacity - used));
    }
  }
  std::string largest;
  if (facts.has_layout && unused != 0) {
    largest = fmt::format(" (largest piece {}", text::format_bytes(facts.free.overall));
    if (facts.free.usable != facts.free.overall) {
      largest += fmt::format(", {} for this request", text::format_bytes(facts.free.usable));
    }
    largest += ")";
  }
  const auto graphs =
      facts.totals.graph_pools == 0 ? std::string() : graph_words(facts.totals) + ", ";
  out.sentence(fmt::format("  {}{} allocated, {}{} reserved but unused{}, {}{} free", capacity,
                           text::format_bytes(facts.totals.allocated), graphs,
                           text::format_bytes(unused), largest, outside,
                           text::format_bytes(facts.device_free)));
  if (unused != 0 && unused >= facts.totals.reserved / least_unused) {
    out.sentence("  what is reserved but unused: " + reasons(facts.totals));
  }
  std::string after;
  if (facts.caught) {
    after = facts.ended_well ? "the program ended with exit status 0" : "the program went on";
  }
  if (const auto others = process.ooms.size() - 1; others != 0) {
    after += fmt::format("{}{} more request{} failed", after.empty() ? "" : "; ",
                         text::format_count(others), others == 1 ? "" : "s");
  }
  if (!after.empty()) out.sentence("  " + after);
  add_retainers(out, process, oom, columns);
}

void add_device_use(text::page& out, const run::device_report& device) {
  if (!device.used) {
    for (const auto& holder : device.outside) {
      out.line(fmt::format("  outside        {:>11}  {}", text::format_bytes(holder.bytes),
                           device::words_of_part(holder.owner)));
    }
    return;
  }
  const auto& used = *device.used;
  constexpr std::size_t most_parts = 8;
  std::vector<std::string> parts;
  std::uint64_t rest = 0;
  for (const auto& one : used.parts) {
    if (parts.size() == most_parts) {
      rest += one.bytes;
    } else {
      parts.push_back(
          fmt::format("{} {}", text::format_bytes(one.bytes), device::words_of_part(one.name)));
    }
  }
  if (rest != 0) parts.push_back(text::format_bytes(rest) + " more");
  if (used.unexplained != 0) parts.push_back(unexplained_words(used.unexplained));
  const auto begin = fmt::format("  most in use    {:>11}  ", text::format_bytes(used.used));
  add_packed(out, begin + fmt::format("at {}: ", text::format_seconds(used.time_ns)), begin.size(),
             parts);
}

void add_host_limit(text::page& out, const run::run_report& processes) {
  const host::host_samples* nearest = nullptr;
  for (const auto& process : processes) {
    const double share = share_of_limit(process.host);
    if (share < near_share) continue;
    if (nearest == nullptr || share > share_of_limit(*nearest)) nearest = &process.host;
  }
  if (nearest == nullptr) return;
  out.line(fmt::format("Host memory came to {} of {}: {}",
                       text::format_bytes(nearest->limit_used.peak()),
                       text::format_bytes(*nearest->limit), host::name_of(*nearest->limit_from)));
}

}  // namespace memtrace::terminal
