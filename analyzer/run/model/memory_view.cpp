// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/memory_view.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <tuple>

#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

using attribution::block_group;
using attribution::composition;

// A report holds so many frames in all, far above any real run's, so that no trace can fill the
// memory: the smallest call sites beyond are summed up.
constexpr std::uint64_t most_frames = 1u << 20;

[[nodiscard]] bool is_unrecorded(const block_group& group) {
  return group.site == replay::site_id{};
}

[[nodiscard]] attribution::evidence strongest_share(
    const attribution::by_evidence<std::uint64_t>& bytes) {
  const auto most = std::ranges::max_element(bytes.values);
  return static_cast<attribution::evidence>(most - bytes.values.begin());
}

[[nodiscard]] std::vector<category_row> categories_of(const composition& held) {
  std::map<attribution::category, category_row> rows;
  std::map<std::pair<attribution::category, std::string_view>, std::uint64_t> rules;
  for (const auto& group : held.groups) {
    auto& row = rows[group.what];
    const auto bytes = group.held.bytes;
    row.what = group.what;
    row.bytes += bytes;
    row.blocks += group.held.blocks;
    row.evidence_bytes[group.how] += bytes;
    if (group.recomputed) row.recomputed += bytes;
    if (group.attention_scores) row.attention_scores += bytes;
    if (group.fp32_under_autocast) row.fp32_under_autocast += bytes;
    if (!group.rule.empty()) rules[{group.what, group.rule}] += bytes;
  }
  for (const auto& [key, bytes] : rules) rows[key.first].rules.push_back({key.second, bytes});
  std::vector<category_row> sorted;
  for (auto& [what, row] : rows) {
    row.how = strongest_share(row.evidence_bytes);
    std::ranges::stable_sort(row.rules, std::greater(), &rule_bytes::bytes);
    sorted.push_back(std::move(row));
  }
  std::ranges::stable_sort(sorted, std::greater(), &category_row::bytes);
  return sorted;
}

[[nodiscard]] std::vector<named_memory> named_by_program(const trace::dictionary& names,
                                                         const composition& held) {
  std::map<std::pair<std::string_view, attribution::category>, named_memory> found;
  for (const auto& group : held.groups) {
    if (!group.named_by_program) continue;
    auto& row = found[{names[group.name], group.what}];
    row.what = group.what;
    row.bytes += group.held.bytes;
    row.blocks += group.held.blocks;
  }
  std::vector<named_memory> rows;
  for (auto& [key, row] : found) {
    row.name = key.first;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater(), &named_memory::bytes);
  return rows;
}

// Call sites by what tells them apart, and which of them each group of blocks is part of.
struct folded_sites {
  struct entry {
    const block_group* first = nullptr;
    call_site site;
    attribution::by_evidence<std::uint64_t> evidence_bytes;
  };
  std::vector<entry> entries;
  std::vector<std::size_t> of_group;  // index in entries; npos for what is unrecorded
  static constexpr auto npos = static_cast<std::size_t>(-1);
};

[[nodiscard]] folded_sites fold(const composition& held) {
  using key = std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t, attribution::category>;
  std::map<key, std::size_t> known;
  folded_sites folded;
  for (const auto& group : held.groups) {
    if (is_unrecorded(group)) {
      folded.of_group.push_back(folded_sites::npos);
      continue;
    }
    const key wanted = {group.site.is_thread, group.site.number, group.forward.value,
                        group.node.value, group.what};
    const auto [at, is_new] = known.emplace(wanted, folded.entries.size());
    if (is_new) folded.entries.push_back({&group, {}, {}});
    auto& [first, site, evidence_bytes] = folded.entries[at->second];
    site.what = group.what;
    site.bytes += group.held.bytes;
    site.blocks += group.held.blocks;
    if (group.recomputed) site.recomputed += group.held.bytes;
    if (group.attention_scores) site.attention_scores += group.held.bytes;
    evidence_bytes[group.how] += group.held.bytes;
    folded.of_group.push_back(at->second);
  }
  return folded;
}

void name_site(const trace::dictionary& names, const block_group& group, call_site& site) {
  site.node = names[group.node];
  if (group.site.is_thread) {
    site.thread = names[names[trace::thread_id{group.site.number}].name];
  } else {
    site.frames = code::frames_of(names, trace::stack_id{group.site.number});
  }
  site.forward = code::frames_of(names, group.forward);
  const auto lines = group.forward ? group.forward : trace::stack_id{group.site.number};
  if (group.site.is_thread && !group.forward) return;
  for (const auto other : names.fused_with(lines)) {
    const auto frames = code::frames_of(names, other);
    const auto* const telling = code::telling_frame(frames);
    if (telling != nullptr &&
        std::ranges::find(site.fused_with, *telling) == site.fused_with.end()) {
      site.fused_with.push_back(*telling);
    }
  }
}

// Fills view.sites; returns where each entry went.
[[nodiscard]] std::vector<std::size_t> list_sites(const trace::dictionary& names,
                                                  folded_sites& folded, memory_view& view) {
  std::vector<std::size_t> order(folded.entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return folded.entries[i].site.bytes; });
  std::vector<std::size_t> place(order.size());
  call_site rest;
  rest.sites = 0;
  std::uint64_t frames = 0;
  for (const auto i : order) {
    auto& [first, site, evidence_bytes] = folded.entries[i];
    place[i] = view.sites.size();
    if (frames >= most_frames) {
      rest.bytes += site.bytes;
      rest.blocks += site.blocks;
      ++rest.sites;
      continue;
    }
    site.how = strongest_share(evidence_bytes);
    name_site(names, *first, site);
    frames += site.frames.size() + site.forward.size() + 1;
    view.sites.push_back(std::move(site));
  }
  if (rest.sites != 0) view.sites.push_back(std::move(rest));
  return place;
}

void list_blocks(const trace::dictionary& names, const composition& held,
                 const folded_sites& folded, const std::vector<std::size_t>& place,
                 memory_view& view) {
  view.blocks.reserve(held.blocks.size());
  for (const auto& block : held.blocks) {
    const auto& group = held.groups[block.group];
    const auto site = folded.of_group[block.group];
    block_row row;
    row.address = block.address;
    row.bytes = block.bytes;
    row.born = block.born;
    row.what = group.what;
    row.how = group.how;
    row.rule = group.rule;
    row.name = names[group.name];
    row.detail = names[group.detail];
    row.born_in = group.born_in;
    row.module = group.module;
    row.call_site = site == folded_sites::npos ? 0 : place[site];
    view.blocks.push_back(std::move(row));
  }
}

}  // namespace

memory_view view_of(const trace::dictionary& names, const composition& held) {
  memory_view view;
  view.event = held.event;
  view.time_ns = held.time_ns;
  view.total = held.total;
  view.unrecorded = held.unrecorded;
  view.during = held.during;
  view.step = held.step;
  view.categories = categories_of(held);
  auto folded = fold(held);
  const auto place = list_sites(names, folded, view);
  view.modules = held.modules;
  view.named = named_by_program(names, held);
  list_blocks(names, held, folded, place, view);
  return view;
}

}  // namespace memtrace::run
