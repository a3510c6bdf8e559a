// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/ranks/find_ranks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace memtrace::ranks {

namespace {

constexpr double normal = 0.6745;  // MAD of a standard normal distribution
constexpr double limit = 3.5;

// There must be values; the median of an even number of them is the mean of the two in the middle.
[[nodiscard]] double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double upper = *middle;
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), middle)) / 2;
}

[[nodiscard]] bool tolerated(double distance, double usual, tolerance allowed) {
  return distance <= std::max(allowed.absolute, allowed.relative * std::fabs(usual));
}

[[nodiscard]] std::vector<outlier> of_two(std::span<const double> values, tolerance allowed) {
  const std::size_t higher = values[1] > values[0] ? 1 : 0;
  const double usual = values[1 - higher];
  if (tolerated(values[higher] - usual, usual, allowed)) return {};
  return {{higher, values[higher], usual, 0}};
}

constexpr double mib = 1 << 20;

// A rank's figure; empty: not known.
using reading = std::function<std::optional<double>(const rank_row&)>;

struct compared_measure {
  rank_measure measure;
  tolerance allowed;
  reading read;
};

[[nodiscard]] std::optional<double> of_device(const rank_row& row,
                                              std::uint64_t (*bytes)(const run::device_report&)) {
  if (row.device == nullptr) return std::nullopt;
  return static_cast<double>(bytes(*row.device));
}

// Tolerances: what runs of ranks that do the same differ by. Blocks of the caching allocator are
// made of segments of 2 and 20 MiB; a rank that was ended with the others may lack a step.
[[nodiscard]] std::vector<compared_measure> measures() {
  return {
      {rank_measure::out_of_memory,
       {},
       [](const rank_row& row) { return std::optional(row.out_of_memory ? 1.0 : 0.0); }},
      {rank_measure::growth,
       {1024, 0.1},
       [](const rank_row& row) {
         return row.device == nullptr ? std::nullopt : std::optional(row.growth);
       }},
      {rank_measure::peak_allocated,
       {2 * mib, 0.01},
       [](const rank_row& row) {
         return of_device(row, [](const run::device_report& device) {
           return device.peak_allocated.totals.allocated;
         });
       }},
      {rank_measure::peak_reserved,
       {20 * mib, 0.02},
       [](const rank_row& row) {
         return of_device(row, [](const run::device_report& device) {
           return device.peak_reserved.totals.reserved;
         });
       }},
      {rank_measure::outside,
       {32 * mib, 0.05},
       [](const rank_row& row) -> std::optional<double> {
         if (row.device == nullptr) return std::nullopt;
         const auto bytes = outside_bytes(*row.device);
         return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
       }},
      {rank_measure::host,
       {64 * mib, 0.1},
       [](const rank_row& row) -> std::optional<double> {
         const auto& kept = row.process->host.kept;
         if (kept.samples().empty()) return std::nullopt;
         return static_cast<double>(kept.peak());
       }},
      {rank_measure::steps,
       {1, 0},
       [](const rank_row& row) -> std::optional<double> {
         if (row.device == nullptr) return std::nullopt;
         return static_cast<double>(row.steps);
       }},
  };
}

// The command without its numbers: those of pipes, by which multiprocessing tells the processes
// that it spawns apart.
[[nodiscard]] std::string kind_of(const std::vector<std::string>& command) {
  std::string kind;
  for (const auto& argument : command) {
    for (const char c : argument) {
      if (c < '0' || c > '9') kind += c;
    }
    kind += '\0';
  }
  return kind;
}

// Ranks of one attempt, and processes without a rank by their command.
[[nodiscard]] std::vector<std::vector<std::size_t>> groups_of(const std::vector<rank_row>& rows) {
  using key = std::pair<std::size_t, std::string>;
  std::map<key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& run = rows[i].process->run;
    groups[run.rank ? key{rows[i].attempt, {}} : key{rows.size(), kind_of(run.command)}].push_back(
        i);
  }
  std::vector<std::vector<std::size_t>> made;
  for (auto& [of, members] : groups) made.push_back(std::move(members));
  return made;
}

// Another of the group that is as near to what is usual as any.
[[nodiscard]] const rank_row* usual_row(const std::vector<rank_row>& rows,
                                        const std::vector<std::size_t>& members,
                                        const rank_difference& found, const reading& read) {
  const rank_row* nearest = nullptr;
  double least = 0;
  for (const auto member : members) {
    const auto value = read(rows[member]);
    if (member == found.row || !value) continue;
    const double distance = std::abs(*value - found.usual);
    if (nearest != nullptr && distance >= least) continue;
    nearest = &rows[member];
    least = distance;
  }
  return nearest;
}

void compare(const std::vector<rank_row>& rows, const std::vector<std::size_t>& members,
             const compared_measure& by, std::vector<rank_difference>& found) {
  std::vector<double> values;
  std::vector<std::size_t> known;
  for (const auto member : members) {
    const auto value = by.read(rows[member]);
    if (!value) continue;
    values.push_back(*value);
    known.push_back(member);
  }
  for (const auto& one : outliers(values, by.allowed)) {
    rank_difference made;
    made.row = known[one.index];
    made.measure = by.measure;
    made.value = one.value;
    made.usual = one.usual;
    if (one.distance != 0) made.distance = one.distance;
    made.compared = values.size();
    if (const auto* const usual = usual_row(rows, members, made, by.read); usual != nullptr) {
      explain_difference(made, rows[made.row], *usual);
    }
    found.push_back(std::move(made));
  }
}

// Memory on a device that another rank of the same host uses most: mostly a context or tensors that
// were made before the rank chose its device. Devices are numbered alike only where both processes
// see more than their own.
void find_strays(const std::vector<rank_row>& rows, const std::vector<std::size_t>& members,
                 std::vector<rank_difference>& found) {
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> main_of;
  for (const auto member : members) {
    const auto& row = rows[member];
    if (row.device == nullptr) continue;
    main_of.try_emplace({row.process->run.host, row.device->facts.device}, member);
  }
  for (const auto member : members) {
    const auto& row = rows[member];
    for (const auto& device : row.process->devices) {
      const auto bytes = device.peak_reserved.totals.reserved;
      if (&device == row.device || bytes == 0) continue;
      const auto other = main_of.find({row.process->run.host, device.facts.device});
      if (other == main_of.end() || other->second == member) continue;
      rank_difference made;
      made.row = member;
      made.measure = rank_measure::other_device;
      made.value = static_cast<double>(bytes);
      made.compared = members.size();
      explain_stray(made, row, device, rows[other->second]);
      found.push_back(std::move(made));
    }
  }
}

}  // namespace

std::vector<outlier> outliers(std::span<const double> values, tolerance allowed) {
  if (values.size() < 2) return {};
  if (values.size() == 2) return of_two(values, allowed);
  const double usual = median({values.begin(), values.end()});
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - usual));
  const double spread = median(distances);
  std::vector<outlier> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (tolerated(distances[i], usual, allowed)) continue;
    if (normal * distances[i] <= limit * spread) continue;
    found.push_back({i, values[i], usual, spread == 0 ? 0 : normal * distances[i] / spread});
  }
  std::ranges::stable_sort(found, {},
                           [](const outlier& one) { return -std::fabs(one.value - one.usual); });
  return found;
}

std::vector<rank_difference> differences_of(const std::vector<rank_row>& rows) {
  std::vector<rank_difference> found;
  for (const auto& members : groups_of(rows)) {
    if (members.size() < 2) continue;
    for (const auto& measure : measures()) compare(rows, members, measure, found);
    find_strays(rows, members, found);
  }
  return found;
}

}  // namespace memtrace::ranks
