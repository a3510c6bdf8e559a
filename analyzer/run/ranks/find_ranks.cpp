// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/ranks/find_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace memtrace::ranks {

namespace {

// A hostile trace may claim any world size.
constexpr std::uint64_t most_missing = 1024;

[[nodiscard]] const run::device_report* main_device(const run::process_report& process) {
  const auto found = std::ranges::max_element(process.devices, {}, [](const auto& device) {
    return device.peak_allocated.totals.allocated;
  });
  return found == process.devices.end() ? nullptr : &*found;
}

[[nodiscard]] rank_row row_of(const run::process_report& process) {
  rank_row made;
  made.process = &process;
  made.device = main_device(process);
  made.out_of_memory = !process.ooms.empty();
  if (made.device == nullptr) return made;
  made.steps = made.device->steps.count;
  const auto* const verdict = verdicts::of_device(process.findings, made.device->facts.device);
  if (verdict != nullptr && verdicts::is_leak(*verdict)) made.growth = verdict->bytes_per_step;
  return made;
}

[[nodiscard]] auto order_of(const rank_row& row) {
  const auto& run = row.process->run;
  return std::tuple(row.attempt, run.rank.value_or(~std::uint64_t{0}), run.host, run.pid);
}

// The n-th process of a rank, by start, belongs to the n-th attempt.
void number_attempts(std::vector<rank_row>& rows) {
  std::ranges::stable_sort(rows, {},
                           [](const rank_row& row) { return row.process->run.started_ns; });
  std::map<std::uint64_t, std::size_t> seen;
  for (auto& row : rows) {
    if (const auto& rank = row.process->run.rank) row.attempt = seen[*rank]++;
  }
}

// Helpers of a rank, such as DataLoader workers, have its number, too, but use no device.
[[nodiscard]] std::vector<rank_row> rows_of(const run::run_report& processes) {
  std::vector<rank_row> with_device;
  std::vector<rank_row> without;
  std::set<std::uint64_t> known;
  for (const auto& process : processes) {
    auto row = row_of(process);
    if (row.device != nullptr) {
      if (process.run.rank) known.insert(*process.run.rank);
      with_device.push_back(row);
    } else if (process.run.rank) {
      without.push_back(row);
    }
  }
  for (const auto& row : without) {
    if (known.insert(*row.process->run.rank).second) with_device.push_back(row);
  }
  number_attempts(with_device);
  std::ranges::sort(with_device, {}, order_of);
  return with_device;
}

void find_others(ranks_found& made) {
  std::uint64_t world = 0;
  std::set<std::uint64_t> there;
  std::set<std::uint64_t> running;
  for (const auto& row : made.rows) {
    const auto& run = row.process->run;
    world = std::max(world, run.world_size.value_or(0));
    if (run.rank) there.insert(*run.rank);
    running.insert(run.running_ranks.begin(), run.running_ranks.end());
  }
  if (there.empty()) return;
  if (!running.empty() && running.size() < world) made.played = world - running.size();
  for (std::uint64_t rank = 0; rank < world && made.missing.size() < most_missing; ++rank) {
    const bool ran = running.empty() || running.contains(rank);
    if (ran && !there.contains(rank)) made.missing.push_back(rank);
  }
}

[[nodiscard]] std::vector<shared_row> shared_of(const std::vector<rank_row>& rows) {
  struct owned {
    std::size_t row;
    std::uint64_t bytes;
  };
  std::map<std::uint64_t, owned> owners;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& one : rows[i].process->shared.exported) {
      if (one.handle != 0) owners.try_emplace(one.handle, owned{i, one.bytes});
    }
  }
  std::map<std::tuple<std::size_t, std::size_t, std::uint32_t>, shared_row> found;
  const std::size_t nobody = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& one : rows[i].process->shared.opened) {
      const auto known = one.handle == 0 ? owners.end() : owners.find(one.handle);
      const bool owner_known = known != owners.end();
      auto& row = found[{i, owner_known ? known->second.row : nobody, one.device}];
      row.row = i;
      if (owner_known) row.owner = known->second.row;
      row.device = one.device;
      const auto bytes = one.bytes == 0 && owner_known ? known->second.bytes : one.bytes;
      row.bytes += bytes;
      ++row.pieces;
      if (bytes == 0) ++row.pieces_of_unknown;
    }
  }
  std::vector<shared_row> all;
  for (auto& [key, row] : found) all.push_back(row);
  return all;
}

}  // namespace

bool is_of_others(const run::outside_holder& holder) {
  return holder.owner == device::part_name::others ||
         holder.owner == device::part_name::context_and_others;
}

std::optional<std::uint64_t> outside_bytes(const run::device_report& device) {
  if (!device.used) return std::nullopt;
  std::uint64_t sum = 0;
  for (const auto& holder : device.outside) {
    if (is_of_others(holder)) continue;
    sum += holder.peak.value_or(holder.bytes);
  }
  return sum;
}

std::string name_of(const rank_row& row) {
  const auto& run = row.process->run;
  auto name = run.rank ? fmt::format("rank {}", *run.rank) : fmt::format("pid {}", run.pid);
  if (row.attempt != 0) name += fmt::format(" (attempt {})", row.attempt + 1);
  return name;
}

ranks_found find_ranks(const run::run_report& processes) {
  ranks_found made;
  made.rows = rows_of(processes);
  find_others(made);
  made.shared = shared_of(made.rows);
  made.differences = differences_of(made.rows);
  return made;
}

}  // namespace memtrace::ranks
