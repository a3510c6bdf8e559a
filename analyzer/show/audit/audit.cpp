// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/audit.h"

#include <algorithm>

#include "analyzer/base/text/utf8.h"

namespace memtrace::audit {

namespace {

// The latest moment that both could tell of.
[[nodiscard]] std::int64_t end_of(const testimony& told) {
  if (told.end_ns) return *told.end_ns;
  // It was killed: what CUPTI had not delivered by then is unknown.
  std::int64_t last = told.begin_ns;
  for (const auto& one : told.theirs) last = std::max(last, one.time_ns);
  return last;
}

// Drops what lies outside; returns how many.
std::uint64_t keep_within(std::vector<sighting>& list, std::int64_t begin, std::int64_t end) {
  return std::erase_if(list, [&](const sighting& one) {
    return one.time_ns < begin - edge_ns || one.time_ns > end + edge_ns;
  });
}

[[nodiscard]] totals add_up(const std::vector<sighting>& list) {
  totals sum;
  for (const auto& one : list) {
    if (one.taken_back) continue;
    ++(one.is_release ? sum.releases : sum.allocations);
    if (!one.is_release) sum.bytes += one.bytes;
  }
  return sum;
}

[[nodiscard]] finding describe(const sighting& seen, const trace::dictionary& names) {
  finding result{.seen = seen, .api = {}, .owner = {}, .frames = {}};
  result.api = names[seen.api];
  if (seen.has_owner) result.owner = names[seen.owner];
  result.frames = code::frames_of(names, seen.stack);
  return result;
}

void judge(trace_audit& result, const common_time& both, const trace::dictionary& names) {
  const auto& told = result.told;
  const auto found = match(told.ours, told.theirs, both);
  const auto collect = [&](const std::vector<sighting>& all, const std::vector<std::size_t>& list,
                           std::vector<finding>& into) {
    for (const std::size_t index : list) {
      const auto& one = all[index];
      if (both.has(one)) {
        into.push_back(describe(one, names));
      } else {
        ++result.at_the_edge;
      }
    }
  };
  collect(told.ours, found.missed_by_cupti, result.missed_by_cupti);
  collect(told.theirs, found.missed_by_hooks, result.missed_by_hooks);
  for (const auto& [ours, theirs] : found.other_size) {
    auto& added = result.other_size.emplace_back(describe(told.ours[ours], names));
    added.other_bytes = told.theirs[theirs].bytes;
  }
  result.allocations = found.allocations;
  result.releases = found.releases;
  result.bytes = found.bytes;
  const bool same =
      result.missed_by_cupti.empty() && result.missed_by_hooks.empty() && result.other_size.empty();
  const bool any = result.allocations + result.releases > 0;
  result.verdict = !same ? agreement::different : any ? agreement::same : agreement::nothing;
}

}  // namespace

trace_audit audit_trace(const std::string& path, trace::reader& reader) {
  trace_audit result;
  result.path = text::valid_utf8(path);
  result.pid = reader.header().process_id;
  collector found(reader.names(), reader.header());
  result.facts = reader.read(found);
  result.told = std::move(found.found());
  auto& told = result.told;
  if (told.has_witness) {
    const auto end = end_of(told);
    result.listened_ns = end > told.begin_ns ? static_cast<std::uint64_t>(end - told.begin_ns) : 0;
    for (auto& [index, device] : told.devices) device.listened_ns = result.listened_ns;
    result.outside =
        keep_within(told.ours, told.begin_ns, end) + keep_within(told.theirs, told.begin_ns, end);
    result.ours = add_up(told.ours);
    result.theirs = add_up(told.theirs);
    judge(result, {told.begin_ns + edge_ns, end - edge_ns}, reader.names());
  }
  told.ours = {};
  told.theirs = {};
  return result;
}

}  // namespace memtrace::audit
