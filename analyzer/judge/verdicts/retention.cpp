// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/retention.h"

#include <algorithm>
#include <utility>

namespace memtrace::verdicts {

namespace {

constexpr std::size_t most_heap_scans = 64;
constexpr std::size_t most_paths = 1u << 14;
constexpr std::size_t most_pairs = 1u << 15;
constexpr std::size_t most_texts = 1u << 20;

// Whether enough of the bytes carry a flag for the path to have it.
[[nodiscard]] bool is_most(std::uint64_t part, std::uint64_t whole) {
  return part != 0 && part >= whole - whole / 2;
}

// Whether it is a good part of what is alive of a site; 0: not known.
[[nodiscard]] bool is_good_part(std::uint64_t part, std::uint64_t whole) {
  return part >= whole / 5;
}

// loaded['acme'].down[…] → loaded[…].down[…]
[[nodiscard]] std::string without_keys(std::string path) {
  constexpr std::string_view opens = "['";
  constexpr std::string_view closes = "']";
  constexpr std::string_view any = "[…]";
  for (auto at = path.find(opens); at != path.npos; at = path.find(opens, at)) {
    const auto end = path.find(closes, at + opens.size());
    if (end == path.npos) break;
    path.replace(at, end + closes.size() - at, any);
  }
  return path;
}

struct ranked {
  path_growth growth;
  retainer found;
  [[nodiscard]] auto order() const {
    return std::tuple(growth.leaks(), growth.bytes_per_step, found.bytes);
  }
};

}  // namespace

void retention::census(const trace::event&, const trace::heap_scan_event& record,
                       std::uint64_t step) {
  if (record.action == format::census_action::begin) {
    if (std::exchange(open_, true)) {  // the one before was cut off
      heap_scans_.back() = {record.reason, step, false};
      return;
    }
    if (heap_scans_.size() == most_heap_scans) thin();
    heap_scans_.push_back({record.reason, step, false});
    return;
  }
  if (!std::exchange(open_, false)) return;
  ++counts_.taken;
  auto& now = heap_scans_.back();
  now.complete = (record.flags & format::census_incomplete) == 0;
  now.says_absent = now.complete && (record.flags & format::census_without_graphs) == 0 &&
                    now.reason != format::census_reason::exit && finds_no_less(now);
  if (!now.complete) ++counts_.incomplete;
  counts_.nanoseconds += record.nanoseconds;
}

// While a program takes itself down its names go first, and what they held a little later: a heap
// scan then finds little of anything. Half of what every heap scan since the first step has found
// is enough.
bool retention::finds_no_less(const heap_scan_taken& now) const {
  std::uint64_t least = UINT64_MAX;
  for (const auto& one : heap_scans_) {
    if (&one != &now && one.says_absent && one.step != 0) least = std::min(least, one.named);
  }
  return least == UINT64_MAX || now.named >= least / 2;
}

std::optional<std::uint32_t> retention::path_of(const trace::storage_event& record) {
  const auto texts = std::uint64_t{record.name.value} << 32 | record.detail.value;
  if (const auto known = by_texts_.find(texts); known != by_texts_.end()) return known->second;
  auto path = parse_held(names_[record.name], names_[record.detail]);
  const auto next = static_cast<std::uint32_t>(paths_.size());
  const auto identity = path.identity();
  auto place = by_identity_.find(identity);
  if (place == by_identity_.end()) {
    if (paths_.size() == most_paths) return std::nullopt;
    place = by_identity_.emplace(identity, next).first;
    paths_.push_back(std::move(path));
  } else {
    paths_[place->second].container = std::move(path.container);
    paths_[place->second].holder = std::move(path.holder);
    paths_[place->second].length = path.length;
    paths_[place->second].numbers = std::move(path.numbers);
  }
  if (by_texts_.size() < most_texts) by_texts_.emplace(texts, place->second);
  return place->second;
}

void retention::held(std::uint32_t device, std::uint32_t site, const attribution::block_life* block,
                     const trace::storage_event& record, std::uint64_t site_bytes) {
  if (!open_) return;
  ++counts_.storages;
  if (block == nullptr) {
    ++counts_.unlinked;
    return;
  }
  if ((record.flags & format::held_unreachable) == 0) heap_scans_.back().named += block->bytes;
  const auto path = path_of(record);
  if (path) {
    count({device, site, *path}, *block, record, site_bytes);
  } else {
    ++counts_.elided;
  }
}

void retention::count(const pair_key& key, const attribution::block_life& block,
                      const trace::storage_event& record, std::uint64_t site_bytes) {
  auto place = pairs_.find(key);
  if (place == pairs_.end()) {
    if (pairs_.size() == most_pairs) {
      ++counts_.elided;
      return;
    }
    place = pairs_.emplace(key, history()).first;
  }
  auto& pair = place->second;
  const auto census = static_cast<std::uint32_t>(heap_scans_.size() - 1);
  if (pair.samples.empty() || pair.samples.back().census != census) {
    pair.samples.push_back({.census = census, .of_site = site_bytes});
    pair.flagged = {};
    pair.also.clear();
    pair.shorter = std::exchange(pair.length, 0);
    pair.levels.latest.clear();
  }
  auto& now = pair.samples.back();
  ++now.blocks;
  now.bytes += block.bytes;
  constexpr auto recorded = format::scope_backward | format::scope_grad;
  if ((block.scope.flags & recorded) == recorded) now.recorded_in_backward += block.bytes;
  const auto path = parse_held({}, names_[record.detail]);
  constexpr std::size_t most_others = 8;
  if (!path.also.empty() && (pair.also.size() < most_others || pair.also.contains(path.also)))
    pair.also[path.also] += block.bytes;
  pair.length = std::max(pair.length, path.length);
  take_longer(pair.levels.latest, path.levels);
  if (pair.samples.size() == 1) pair.levels.first = pair.levels.latest;
  pair.gets_longer = pair.shorter != 0 && pair.length > pair.shorter;
  for (std::size_t bit = 0; bit < flag_kinds; ++bit) {
    if ((record.flags >> bit & 1u) != 0) pair.flagged[bit] += block.bytes;
  }
}

// Drops every other heap scan of each reason, counted from its latest, which stays.
void retention::thin() {
  std::map<format::census_reason, std::size_t> seen;
  std::vector<bool> stays(heap_scans_.size());
  for (std::size_t i = heap_scans_.size(); i-- > 0;) {
    stays[i] = seen[heap_scans_[i].reason]++ % 2 == 0;
  }
  std::vector<std::uint32_t> number(heap_scans_.size());
  std::vector<heap_scan_taken> left;
  for (std::size_t i = 0; i < heap_scans_.size(); ++i) {
    number[i] = static_cast<std::uint32_t>(left.size());
    if (stays[i]) left.push_back(heap_scans_[i]);
  }
  heap_scans_ = std::move(left);
  for (auto& [key, pair] : pairs_) {
    std::erase_if(pair.samples, [&](const sample& one) { return !stays[one.census]; });
    for (auto& one : pair.samples) one.census = number[one.census];
  }
  std::erase_if(pairs_, [](const auto& entry) { return entry.second.samples.empty(); });
}

path_growth retention::growth_of_pair(const history& pair) const {
  using format::census_reason;
  std::map<census_reason, std::vector<path_point>> by_reason;
  std::vector<path_point> all;
  auto at = pair.samples.begin();
  for (std::size_t i = 0; i < heap_scans_.size(); ++i) {
    path_point point{static_cast<double>(heap_scans_[i].step), 0};
    if (at != pair.samples.end() && at->census == i) point.bytes = (at++)->bytes;
    if (point.bytes == 0 && !heap_scans_[i].says_absent) continue;  // finding nothing says nothing
    by_reason[heap_scans_[i].reason].push_back(point);
    all.push_back(point);
  }
  // Heap scans of one reason are taken at the same place of a step, others are not.
  path_growth best;
  for (const auto& [reason, points] : by_reason) {
    const auto found = growth_of(points);
    if (std::pair(found.leaks(), found.rises) > std::pair(best.leaks(), best.rises)) best = found;
  }
  return best.rises >= 2 ? best : growth_of(all);
}

// A dictionary with words for keys (users, tenants, layers) has a path for each of them, and none
// grows: together they may.
std::vector<retention::of_all_keys> retention::by_any_key(std::uint32_t device,
                                                          std::uint32_t site) const {
  std::map<std::string, of_all_keys> found;
  for (auto at = pairs_.lower_bound({device, site, 0}); at != pairs_.end(); ++at) {
    if (at->first[0] != device || at->first[1] != site) break;
    auto path = paths_[at->first[2]];
    path.path = without_keys(path.path);
    if (path.path == paths_[at->first[2]].path) continue;
    auto& all = found.try_emplace(path.identity(), of_all_keys{path, {}, 0}).first->second;
    ++all.paths;
    add_levels(all.together, at->second);
    add(all.together, at->second);
  }
  std::vector<of_all_keys> made;
  for (auto& [identity, one] : found) {
    if (one.paths < 2) continue;
    const auto& samples = one.together.samples;
    one.together.gets_longer =
        samples.size() >= 2 && samples.back().blocks > samples[samples.size() - 2].blocks;
    made.push_back(std::move(one));
  }
  return made;
}

void retention::add(history& to, const history& other) {
  for (const auto& one : other.samples) {
    const auto at = std::ranges::lower_bound(to.samples, one.census, {}, &sample::census);
    if (at == to.samples.end() || at->census != one.census) {
      to.samples.insert(at, one);
      continue;
    }
    at->blocks += one.blocks;
    at->bytes += one.bytes;
    at->recorded_in_backward += one.recorded_in_backward;
  }
  for (std::size_t bit = 0; bit < flag_kinds; ++bit) to.flagged[bit] += other.flagged[bit];
  for (const auto& [path, bytes] : other.also) to.also[path] += bytes;
}

// Before the samples of `other` are added.
void retention::add_levels(history& to, const history& other) {
  const bool is_new = to.samples.empty();
  const auto begins = other.samples.front().census;
  const auto ends = other.samples.back().census;
  if (is_new || begins < to.samples.front().census) to.levels.first.clear();
  if (is_new || ends > to.samples.back().census) to.levels.latest.clear();
  if (is_new || begins <= to.samples.front().census)
    take_longer(to.levels.first, other.levels.first);
  if (is_new || ends >= to.samples.back().census)
    take_longer(to.levels.latest, other.levels.latest);
}

retainer retention::describe(const held_path& path, const history& pair,
                             const path_growth& growth) const {
  retainer made;
  made.path = path.path;
  made.container = path.container;
  made.length = pair.length;
  made.gets_longer = pair.gets_longer;
  made.grows_in = pair.samples.size() == 1 ? pair.levels.only(path.path, pair.samples.back().blocks)
                                           : pair.levels.growing(path.path);
  made.is_full = pair.levels.latest.size() > 1 && !pair.levels.may_fill();
  if (pair.levels.are_as_long_as_before() && pair.samples.size() > 1) {
    const bool holds_more = pair.samples.back().blocks > pair.samples.front().blocks;
    made.grows_in_place = holds_more;
    made.grows_itself = !holds_more && pair.samples.back().bytes > pair.samples.front().bytes;
  }
  made.owner = path.owner;
  made.file = path.file;
  made.line = path.line;
  made.holder = path.holder;
  made.classes = path.classes;
  made.numbers = path.numbers;
  made.bytes = pair.samples.back().bytes;
  made.blocks = pair.samples.back().blocks;
  made.bytes_per_step = growth.bytes_per_step;
  made.heap_scans = static_cast<std::uint32_t>(pair.samples.size());
  made.seen_at_step = heap_scans_[pair.samples.back().census].step;
  made.recorded_in_backward = pair.samples.back().recorded_in_backward;
  for (std::size_t bit = 0; bit < flag_kinds; ++bit) {
    if (is_most(pair.flagged[bit], made.bytes)) made.flags |= 1u << bit;
  }
  for (const auto& [other, bytes] : pair.also) {
    if (is_most(bytes, made.bytes)) made.also = container_at(other);
  }
  // The error that ends a program still has the frames that ran then: it is not why they are there.
  const bool is_kept_error = path.path.find(".__traceback__") != path.path.npos;
  made.at_exit_only = is_seen_at_exit_only(pair);
  if (made.at_exit_only && (made.flags & format::held_traceback) != 0 && !is_kept_error) {
    made.flags &= ~format::held_traceback;
    made.owner.clear();
  }
  return made;
}

bool retention::is_seen_at_exit_only(const history& pair) const {
  return std::ranges::all_of(pair.samples, [&](const sample& one) {
    return heap_scans_[one.census].reason == format::census_reason::exit;
  });
}

std::optional<std::uint32_t> retention::scan_of_failure(bool ended_by_it) const {
  std::optional<std::uint32_t> best;
  for (std::uint32_t i = 0; i < heap_scans_.size(); ++i) {
    using format::census_reason;
    const auto why = heap_scans_[i].reason;
    const bool counts =
        why == census_reason::out_of_memory || (why == census_reason::exit && ended_by_it && best);
    if (!counts) continue;
    // Both see the same things, unless the first was cut short.
    constexpr std::uint64_t hundredths = 110;
    const bool sees_more = why == census_reason::out_of_memory ||
                           heap_scans_[i].named > heap_scans_[*best].named * hundredths / 100;
    if (sees_more) best = i;
  }
  return best;
}

std::vector<retainer> retention::at_failure(std::uint32_t device, bool ended_by_it) const {
  const auto scan = scan_of_failure(ended_by_it);
  if (!scan) return {};
  std::map<std::uint32_t, history> by_path;
  for (auto at = pairs_.lower_bound({device, 0, 0}); at != pairs_.end(); ++at) {
    if (at->first[0] != device) break;
    const auto seen = std::ranges::find(at->second.samples, *scan, &sample::census);
    if (seen == at->second.samples.end()) continue;
    history then = at->second;
    then.samples = {*seen};
    auto& all = by_path[at->first[2]];
    all.length = std::max(all.length, then.length);
    add_levels(all, then);
    add(all, then);
  }
  std::vector<retainer> found;
  for (const auto& [path, all] : by_path) found.push_back(describe(paths_[path], all, {}));
  std::ranges::stable_sort(found, std::greater(), &retainer::bytes);
  return found;
}

std::uint64_t retention::least_of(std::uint32_t device, std::uint32_t site) const {
  std::uint64_t least = UINT64_MAX;
  for (auto at = pairs_.lower_bound({device, site, 0}); at != pairs_.end(); ++at) {
    if (at->first[0] != device || at->first[1] != site) break;
    for (const auto& one : at->second.samples) least = std::min(least, one.of_site);
  }
  return least;
}

// A later heap scan did not see it.
bool retention::is_gone(const history& pair) const {
  const auto last = pair.samples.back().census;
  for (std::size_t i = last + std::size_t{1}; i < heap_scans_.size(); ++i) {
    const auto& later = heap_scans_[i];
    if (later.says_absent && later.step > heap_scans_[last].step) return true;
  }
  return false;
}

std::optional<retainer> retention::unnamed(std::uint32_t device, std::uint32_t site,
                                           double bytes_per_step,
                                           std::uint64_t bytes_a_block) const {
  constexpr double several = 3;
  retainer made;
  made.owner = "nothing: a cycle or C++";
  made.flags = format::held_unreachable;
  for (const auto& one : heap_scans_) {
    const double there = bytes_per_step * static_cast<double>(one.step);
    if (!one.says_absent || there < several * static_cast<double>(bytes_a_block)) continue;
    ++made.heap_scans;
    made.seen_at_step = one.step;
    made.bytes = static_cast<std::uint64_t>(there);
    made.blocks = bytes_a_block == 0 ? 0 : made.bytes / bytes_a_block;
  }
  if (made.heap_scans == 0) return std::nullopt;
  made.bytes_per_step = bytes_per_step;
  // Facts about its latest block, while a name still led there, hold for those before, too.
  for (auto at = pairs_.lower_bound({device, site, 0}); at != pairs_.end(); ++at) {
    if (at->first[0] != device || at->first[1] != site) break;
    const auto seen = describe(paths_[at->first[2]], at->second, {});
    constexpr auto facts = format::held_gradient | format::held_has_graph;
    if ((seen.flags & facts) == facts) made.flags |= facts;
    made.recorded_in_backward = std::max(made.recorded_in_backward, seen.recorded_in_backward);
  }
  return made;
}

std::vector<retainer> retention::of_site(std::uint32_t device, std::uint32_t site,
                                         bool lasting) const {
  const auto usual = least_of(device, site);
  std::vector<ranked> found;
  for (auto at = pairs_.lower_bound({device, site, 0}); at != pairs_.end(); ++at) {
    if (at->first[0] != device || at->first[1] != site) break;
    const auto growth = growth_of_pair(at->second);
    const auto& last = at->second.samples.back();
    const auto whole = last.of_site > usual ? last.of_site - usual : last.of_site;
    const bool explains = is_good_part(last.bytes, whole) && !(lasting && is_gone(at->second));
    if (!growth.leaks() && !explains) continue;
    found.push_back({growth, describe(paths_[at->first[2]], at->second, growth)});
  }
  // Once main has returned, what its locals kept is without a name: while it ran a name led there.
  const auto is_of_exit = [&](const ranked& one) {
    return (one.found.flags & format::held_unreachable) != 0 && one.found.at_exit_only;
  };
  if (!std::ranges::all_of(found, is_of_exit)) std::erase_if(found, is_of_exit);
  const auto grows = [](const ranked& one) { return one.growth.leaks(); };
  if (std::ranges::none_of(found, grows)) {
    for (const auto& one : by_any_key(device, site)) {
      const auto growth = growth_of_pair(one.together);
      if (!growth.leaks()) continue;
      std::erase_if(found, [&](const ranked& other) {
        return without_keys(other.found.path) == one.path.path;
      });
      found.push_back({growth, describe(one.path, one.together, growth)});
    }
  }
  std::ranges::stable_sort(found, std::greater(), &ranked::order);
  std::vector<retainer> made;
  for (auto& one : found) made.push_back(std::move(one.found));
  return made;
}

}  // namespace memtrace::verdicts
