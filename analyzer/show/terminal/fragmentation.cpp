// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/run/model/expected.h"
#include "analyzer/run/model/headline.h"
#include "analyzer/run/model/refusals.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::terminal {

namespace {

using fragmentation::diagnosis;
using fragmentation::explained_moment;
using fragmentation::reason;

constexpr std::size_t most_sites = 20;
constexpr std::size_t most_blocked = 8;

[[nodiscard]] std::string plural(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", text::format_count(count), one, count == 1 ? "" : "s");
}

// 12 blocks (48 MiB) that model.py:44 stack made keep 2.8 GiB
[[nodiscard]] std::string retainer_words(const fragmentation::pinning_site& site) {
  return fmt::format("{} ({}) that {} made keep {}", plural(site.blocks, "block"),
                     text::format_bytes(site.block_bytes), code::short_place(site.frames, {}),
                     text::format_bytes(site.bytes));
}

[[nodiscard]] std::string blocked_words(const fragmentation::blocked_requests& blocked) {
  const auto& first = blocked.largest.front();
  return fmt::format(
      "{} of {} for new memory had enough free, but in pieces: {} asked for {}; of {} free the "
      "largest piece was {}.",
      text::format_count(blocked.count), plural(blocked.looked_at, "request"), first.place,
      text::format_bytes(first.bytes), text::format_bytes(first.free),
      text::format_bytes(first.largest));
}

[[nodiscard]] std::string pressure_words(const fragmentation::pressure& found) {
  auto words =
      fmt::format("{} first had to give {} back to CUDA ({})", plural(found.retries, "allocation"),
                  text::format_bytes(found.bytes_freed), plural(found.segments_freed, "segment"));
  if (found.retry_ns >= 1'000'000) words += ", in " + text::format_seconds(found.retry_ns);
  return words;
}

void add_parts(text::page& out, const explained_moment& moment) {
  const auto total = moment.at.unused.total();
  out.line(fmt::format("  {:>11} {:>7} {:>11}  {}", "unused", "", "used again", "because"),
           text::emphasis::faint);
  for (std::size_t i = 0; i < fragmentation::reasons; ++i) {
    const auto why = static_cast<reason>(i);
    const auto bytes = moment.at.unused[why];
    if (bytes == 0) continue;
    out.line(fmt::format("  {:>11} {:>5.1f} % {:>11}  {}", text::format_bytes(bytes),
                         text::percent(bytes, total), text::format_bytes(moment.used_again[why]),
                         words_of(why)));
  }
  out.line(fmt::format("  {:>11}          in all; for {} at {}", text::format_bytes(total),
                       text::format_bytes(moment.request), text::printable(moment.place)));
  out.line(fmt::format("  inside of blocks: {} rounding of sizes, {} tails that are not split off",
                       text::format_bytes(moment.inside.multiples),
                       text::format_bytes(moment.inside.tails)));
}

void add_moment(text::page& out, const std::optional<explained_moment>& moment, const char* when) {
  if (!moment) return;
  const auto graphs = moment->at.graph_pools;
  out.line(fmt::format(
      "{}, event {}: {} reserved, {} allocated{}", when, text::format_count(moment->at.event),
      text::format_bytes(moment->at.reserved), text::format_bytes(moment->at.allocated),
      graphs == 0
          ? std::string()
          : fmt::format(", {} that replays of CUDA graphs need", text::format_bytes(graphs))));
  add_parts(out, *moment);
}

void add_pinning(text::page& out, const diagnosis& found) {
  if (found.pinning.empty()) return;
  out.line("Long-lived blocks that keep segments otherwise nearly empty");
  for (std::size_t i = 0; i < std::min(found.pinning.size(), most_sites); ++i) {
    out.line("  " + retainer_words(found.pinning[i]));
  }
  if (found.pinning.size() > most_sites) {
    out.line(fmt::format("  and {} more", found.pinning.size() - most_sites),
             text::emphasis::faint);
  }
}

void add_blocked(text::page& out, const diagnosis& found) {
  const auto& blocked = found.blocked;
  out.line(fmt::format(
      "Blocked requests (enough free, no block large enough): {} of {}{}, {} "
      "reserved anew for them",
      text::format_count(blocked.count), text::format_count(blocked.looked_at),
      blocked.looked_at == blocked.of
          ? std::string(" that reserved memory")
          : fmt::format(" looked at (the largest of {})", text::format_count(blocked.of)),
      text::format_bytes(blocked.got)));
  for (std::size_t i = 0; i < std::min(blocked.largest.size(), most_blocked); ++i) {
    const auto& one = blocked.largest[i];
    out.line(fmt::format("  {:>11} event {}: {} free, the largest {}; {}{}",
                         text::format_bytes(one.bytes), text::format_count(one.event),
                         text::format_bytes(one.free), text::format_bytes(one.largest), one.place,
                         one.out_of_memory ? " (out of memory)" : ""));
  }
}

void add_over_time(text::page& out, const diagnosis& found) {
  if (found.over_time.empty()) return;
  out.line("Over time, where each window of requests is fullest");
  out.line(fmt::format("  {:>13} {:>11} {:>11} {:>11}", "event", "reserved", "allocated", "unused"),
           text::emphasis::faint);
  for (const auto& at : found.over_time) {
    out.line(fmt::format("  {:>13} {:>11} {:>11} {:>11}", text::format_count(at.event),
                         text::format_bytes(at.reserved), text::format_bytes(at.allocated),
                         text::format_bytes(at.unused.total())));
  }
}

}  // namespace

void add_fragmentation(text::page& out, const run::process_report& process,
                       const run::device_report& device, std::size_t room, std::size_t columns) {
  const auto* const found = run::fragmentation_of(process, device.facts.device);
  if (found == nullptr || !found->matters || room < 2) return;
  // Where most of the GPU is free nobody has to save what lies unused in between.
  const auto* const oom = run::decisive_oom(process);
  const bool is_scarce = oom != nullptr ? run::was_in_pieces(process, *oom)
                                        : found->pressure.retries != 0 ||
                                              run::grows_on(process, device.facts.device) ||
                                              !run::has_room(process, device.facts.device);
  if (!is_scarce) return;
  const auto begin = out.lines();
  const auto left = [&] { return room - std::min(room, out.lines() - begin); };
  out.line(fmt::format("Fragmentation: GPU {} reserves {}, where {} would hold all that was in use "
                       "at once",
                       found->device, text::format_bytes(found->peak_reserved),
                       text::format_bytes(found->lower_bound)),
           text::emphasis::alarm);
  // A sentence that does not fit as a whole is left to the full view.
  const auto labelled = [&](const char* label, const std::string& text) {
    const auto lines = text::wrap(text, std::max<std::size_t>(columns, 40) - 12);
    if (lines.size() > left()) return;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out.line(fmt::format("  {:<9} {}", i == 0 ? label : "", lines[i]));
    }
  };
  labelled("why:", found->summary);
  if (!found->pinning.empty() && found->why == fragmentation::cause::survivors) {
    labelled("kept by:", retainer_words(found->pinning.front()));
  }
  if (found->blocked.count != 0) labelled("blocked:", blocked_words(found->blocked));
  if (found->pressure.retries != 0) labelled("retries:", pressure_words(found->pressure));
}

void add_fragmentation_in_full(text::page& out, const run::process_report& process,
                               const run::device_report& device) {
  const auto* const found = run::fragmentation_of(process, device.facts.device);
  if (found == nullptr) {
    out.line("  nothing is known of PyTorch's caching allocator");
    return;
  }
  out.line(fmt::format(
      "Peak reserved {}, allocated {}; live at once, rounded to 512 bytes: {} "
      "({} with freed blocks that streams held)",
      text::format_bytes(found->peak_reserved), text::format_bytes(found->peak_allocated),
      text::format_bytes(found->lower_bound), text::format_bytes(found->lower_bound_active)));
  out.line(fmt::format("Cause: {}", words_of(found->why)));
  if (!found->summary.empty()) out.line(found->summary);
  if (!found->inexact.empty()) out.line("Not exact: " + found->inexact);
  add_moment(out, found->at_peak, "When most was reserved");
  add_moment(out, found->out_of_memory, "Where memory ran out");
  add_pinning(out, *found);
  add_blocked(out, *found);
  const auto& pressure = found->pressure;
  out.line(fmt::format(
      "Driver calls: {}; {} got in {} pieces", text::format_count(pressure.driver_calls),
      text::format_bytes(pressure.bytes_got), text::format_count(pressure.segments_got)));
  if (pressure.retries != 0) out.line("Retries: " + pressure_words(pressure));
  if (pressure.collections != 0) {
    out.line(fmt::format("Garbage collections: {}, in {}", text::format_count(pressure.collections),
                         text::format_seconds(pressure.collection_ns)));
  }
  add_over_time(out, *found);
}

}  // namespace memtrace::terminal
