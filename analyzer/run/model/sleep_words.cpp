// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/sleep_words.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/units.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

[[nodiscard]] std::string counted(std::uint64_t number, const char* one, const char* many) {
  return number == 1 ? std::string(one) : text::format_count(number) + many;
}

// What would be missing if all of it woke up where the recording ends.
[[nodiscard]] std::string words_of_end(const device_report& device, const sleep_report& found) {
  const auto bytes = text::format_bytes(found.at_end);
  const auto capacity = device.facts.total_bytes;
  const auto needed = found.used_at_end + found.at_end;
  if (capacity == 0 || found.used_at_end == 0 || needed <= capacity) {
    return bytes + " still asleep at the end";
  }
  return fmt::format("{} still asleep at the end, {} more than is free there", bytes,
                     text::format_bytes(needed - capacity));
}

}  // namespace

std::string sleep_words(const device_report& device) {
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

std::string pool_words(const replay::device_totals& totals) {
  const auto unused = totals.all_unused();
  const auto pool = fmt::format("PyTorch's pool has {}, {} of it unused",
                                text::brief_bytes(totals.reserved), text::brief_bytes(unused));
  if (totals.asleep == 0) return pool;
  return pool + ", beside " + text::brief_bytes(totals.asleep) + " asleep";
}

}  // namespace memtrace::run
