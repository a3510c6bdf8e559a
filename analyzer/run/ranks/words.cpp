// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/ranks/find_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/model/attribution/terms.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::ranks {

namespace {

constexpr std::size_t most_lines_kept = 5;

[[nodiscard]] std::uint64_t distance_of(const rank_line& line) {
  return line.bytes > line.usual_bytes ? line.bytes - line.usual_bytes
                                       : line.usual_bytes - line.bytes;
}

// Lines whose memory at the peak differs, largest difference first.
[[nodiscard]] std::vector<rank_line> lines_that_differ(const run::memory_view& here,
                                                       const run::memory_view& usual) {
  std::map<std::pair<std::string, attribution::category>, rank_line> lines;
  for (const auto& line : run::fold_to_user_lines(here.sites)) {
    lines[{line.where, line.what}] = {line.where, line.what, line.bytes, 0};
  }
  for (const auto& line : run::fold_to_user_lines(usual.sites)) {
    auto& known = lines[{line.where, line.what}];
    known.where = line.where;
    known.what = line.what;
    known.usual_bytes = line.bytes;
  }
  std::vector<rank_line> all;
  for (auto& [key, line] : lines) {
    if (line.bytes != line.usual_bytes) all.push_back(std::move(line));
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, distance_of);
  if (all.size() > most_lines_kept) all.resize(most_lines_kept);
  return all;
}

[[nodiscard]] std::string bytes_of(double value) {
  return text::format_bytes(static_cast<std::uint64_t>(std::max(0.0, value)));
}

// "8 MiB more"
[[nodiscard]] std::string more_or_less(double value, double usual) {
  return fmt::format("{} {}", bytes_of(std::fabs(value - usual)), value > usual ? "more" : "less");
}

[[nodiscard]] std::string others_of(const rank_difference& found, const rank_row& usual) {
  return found.compared == 2 ? name_of(usual) : std::string("the others");
}

// Names the first line, if it goes the same way as the whole.
[[nodiscard]] std::string mostly(const rank_difference& found) {
  if (found.lines.empty()) return {};
  const auto& first = found.lines.front();
  const bool more = first.bytes > first.usual_bytes;
  if (more != (found.value > found.usual)) return {};
  return fmt::format(", first of all {} at {} ({} {})", words_of(first.what), first.where,
                     text::format_bytes(distance_of(first)), more ? "more" : "less");
}

[[nodiscard]] std::string memory_sentence(const rank_difference& found, const rank_row& row,
                                          const rank_row& usual, const char* what) {
  return fmt::format("{} {} {}, {} has {}: {}{}", name_of(row), what, bytes_of(found.value),
                     found.compared == 2 ? name_of(usual) : "a usual rank", bytes_of(found.usual),
                     more_or_less(found.value, found.usual), mostly(found));
}

// ", 544 MiB of it libnccl.so.2": the part that differs most, if it goes the same way.
[[nodiscard]] std::string most_outside(const rank_difference& found, const run::device_report& here,
                                       const run::device_report& usual) {
  std::map<std::string, double> parts;
  for (const auto& holder : here.outside) {
    if (is_of_others(holder)) continue;
    parts[holder.owner] += static_cast<double>(holder.peak.value_or(holder.bytes));
  }
  for (const auto& holder : usual.outside) {
    if (is_of_others(holder)) continue;
    parts[holder.owner] -= static_cast<double>(holder.peak.value_or(holder.bytes));
  }
  const double sign = found.value > found.usual ? 1 : -1;
  const std::string* name = nullptr;
  double most = 0;
  for (const auto& [owner, bytes] : parts) {
    if (sign * bytes <= most) continue;
    most = sign * bytes;
    name = &owner;
  }
  if (name == nullptr) return {};
  return fmt::format(", {} of it {}", bytes_of(most), device::words_of_part(*name));
}

// Where it grows most.
[[nodiscard]] std::string place_of_growth(const rank_row& row) {
  for (const auto& verdict : row.process->findings.verdicts) {
    if (verdict.about.kind != verdicts::subject_kind::device) continue;
    if (verdict.about.device != row.device->facts.device || verdict.suspects.empty()) continue;
    const auto& frames = run::frames_at(*row.process, verdict.suspects.front().stack);
    if (frames.empty()) continue;
    return ", most of it from " + code::short_place(frames, {});
  }
  return {};
}

[[nodiscard]] std::string growth_sentence(const rank_difference& found, const rank_row& row,
                                          const rank_row& usual) {
  if (found.value > found.usual) {
    return fmt::format("{} accumulates {} a step, {} {}{}", name_of(row), bytes_of(found.value),
                       others_of(found, usual), bytes_of(found.usual), place_of_growth(row));
  }
  return fmt::format("{} accumulates {} a step, less than {}: {}", name_of(row),
                     bytes_of(found.value), others_of(found, usual), bytes_of(found.usual));
}

}  // namespace

void explain_difference(rank_difference& found, const rank_row& row, const rank_row& usual) {
  switch (found.measure) {
    case rank_measure::peak_allocated:
      found.lines = lines_that_differ(row.device->at_peak, usual.device->at_peak);
      found.sentence = memory_sentence(found, row, usual, "peaks at");
      return;
    case rank_measure::peak_reserved:
      found.sentence = memory_sentence(found, row, usual, "reserves up to");
      return;
    case rank_measure::outside:
      found.sentence = memory_sentence(found, row, usual, "holds outside of PyTorch's pool") +
                       most_outside(found, *row.device, *usual.device);
      return;
    case rank_measure::host:
      found.sentence = memory_sentence(found, row, usual, "takes of the host's memory");
      return;
    case rank_measure::growth:
      found.sentence = growth_sentence(found, row, usual);
      return;
    case rank_measure::steps:
      found.sentence = fmt::format("{} made {:.0f} steps, {} {:.0f}", name_of(row), found.value,
                                   others_of(found, usual), found.usual);
      return;
    case rank_measure::out_of_memory:
      found.sentence = found.value > found.usual
                           ? fmt::format("{} ran out of memory, {} did not", name_of(row),
                                         others_of(found, usual))
                           : fmt::format("{} did not run out of memory, {} did", name_of(row),
                                         others_of(found, usual));
      return;
    case rank_measure::other_device:
      return;  // explain_stray
  }
}

void explain_stray(rank_difference& found, const rank_row& row, const run::device_report& device,
                   const rank_row& owner) {
  const run::memory_view nothing;
  found.lines = lines_that_differ(device.at_peak, nothing);
  found.sentence = fmt::format(
      "{} also takes {} of cuda:{}, which is the device of {}{}: choose the device first "
      "(torch.cuda.set_device), and load files with map_location",
      name_of(row), bytes_of(found.value), device.facts.device, name_of(owner), mostly(found));
}

}  // namespace memtrace::ranks
