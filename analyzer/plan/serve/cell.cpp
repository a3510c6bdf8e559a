// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/serve/cell.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/model/attribution/terms.h"
#include "analyzer/run/model/load.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/find_traces.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::serve {

namespace {

using attribution::category;

[[nodiscard]] std::uint64_t bytes_of(const run::device_report& device, category what) {
  const auto& rows = device.at_peak.categories;
  const auto found = std::ranges::find(rows, what, &run::category_row::what);
  return found == rows.end() ? 0 : found->bytes;
}

// Of PyTorch's memory only what a server's settings decide is told apart.
void fill_shares(const run::device_report& device, cell& into) {
  into.weights_bytes = bytes_of(device, category::weights);
  into.kv_cache_bytes = bytes_of(device, category::kv_cache);
  std::vector<share> made{{attribution::words_of(category::weights), into.weights_bytes},
                          {attribution::words_of(category::kv_cache), into.kv_cache_bytes}};
  std::uint64_t pool = device.peak_allocated.totals.allocated;
  if (device.used) {
    for (const auto& part : device.used->parts) {
      if (part.name == device::part_name::pytorch_allocated) {
        pool = part.bytes;
      } else {
        made.push_back({device::words_of_part(part.name), part.bytes});
      }
    }
    if (device.used->unexplained > 0) {
      made.push_back({"unexplained", static_cast<std::uint64_t>(device.used->unexplained)});
    }
  }
  const auto told = into.weights_bytes + into.kv_cache_bytes;
  if (pool > told) made.push_back({"other tensors", pool - told});
  std::erase_if(made, [](const share& one) { return one.bytes == 0; });
  std::ranges::stable_sort(made, std::greater<>(), &share::bytes);
  into.shares = std::move(made);
}

[[nodiscard]] std::uint64_t used_on(const run::device_report& device) {
  return device.used ? device.used->used : device.peak_reserved.totals.reserved;
}

}  // namespace

void read_traces(cell& into, std::uint64_t most_devices) {
  std::set<std::uint32_t> numbers;
  std::set<std::uint64_t> ranks;
  std::uint64_t most_held = 0;
  for (const auto& path : trace::traces_in(into.folder)) {
    auto source = trace::file_source::open(path);
    if (!source) continue;
    auto reader = trace::reader::open(*source);
    if (!reader) continue;
    const auto process = run::load(path, *reader, {.advice = false});
    for (const auto& device : process.devices) {
      const auto held = device.peak_reserved.totals.reserved;
      if (held == 0 && device.at_peak.total == 0) continue;
      numbers.insert(device.facts.device);
      if (process.run.rank) ranks.insert(*process.run.rank);
      const auto used = used_on(device);
      if (std::pair(used, held) <= std::pair(into.used_bytes, most_held)) continue;
      into.used_bytes = used;
      most_held = held;
      fill_shares(device, into);
    }
  }
  // A launcher that gives each rank its own GPU may call it number 0 in all of them.
  into.devices = std::min(most_devices, std::max<std::uint64_t>(numbers.size(), ranks.size()));
  if (into.came != outcome::out_of_memory) return;
  const auto found = fit::explain(into.folder, 0, 0);
  into.why = found.bound ? fit::sentence_of(*found.bound) : into.said.trouble;
}

std::optional<bool> serves(const request& wanted, const cell& one) {
  if (wanted.requests == 0) return std::nullopt;
  if (!came_up(one.came)) return false;
  if (!one.said.tokens) return std::nullopt;
  const bool long_enough = !one.said.length || *one.said.length >= wanted.tokens;
  return long_enough && *one.said.tokens / wanted.tokens >= wanted.requests;
}

const cell* smallest_that_serves(const request& wanted, const std::vector<cell>& cells) {
  const auto cost = [](const cell& one) {
    return std::tuple(one.devices * one.gpu.total_bytes, ~one.said.tokens.value_or(0));
  };
  const cell* found = nullptr;
  for (const auto& one : cells) {
    if (serves(wanted, one) != true || one.devices == 0) continue;
    if (found == nullptr || cost(one) < cost(*found)) found = &one;
  }
  return found;
}

}  // namespace memtrace::serve
