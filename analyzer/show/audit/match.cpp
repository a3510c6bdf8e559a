// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/match.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace memtrace::audit {

namespace {

using indices = std::vector<std::size_t>;

// By address, allocations apart from releases, in the order in which they began.
[[nodiscard]] indices by_address(const std::vector<sighting>& all) {
  indices order;
  order.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].taken_back) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto &x = all[a], &y = all[b];
    return std::tuple(x.address, x.is_release, x.time_ns) <
           std::tuple(y.address, y.is_release, y.time_ns);
  });
  return order;
}

[[nodiscard]] std::uint64_t apart(const sighting& a, const sighting& b) {
  const auto x = static_cast<std::uint64_t>(a.time_ns), y = static_cast<std::uint64_t>(b.time_ns);
  return a.time_ns > b.time_ns ? x - y : y - x;
}

[[nodiscard]] auto earlier(const std::vector<sighting>& all) {
  return [&all](std::size_t a, std::size_t b) {
    return std::tuple(all[a].time_ns, a) < std::tuple(all[b].time_ns, b);
  };
}

class matcher {
 public:
  matcher(const std::vector<sighting>& ours, const std::vector<sighting>& theirs,
          const common_time& both)
      : ours_(ours), theirs_(theirs), both_(both) {}

  // All allocations, or all releases, of one address.
  void match_address(std::span<const std::size_t> ours, std::span<const std::size_t> theirs) {
    if (same_sizes(ours, theirs)) {
      align(ours, theirs);
      return;
    }
    // Two threads may have begun in another order than they were served in: first what has the
    // same size, and then the rest.
    indices our_rest, their_rest;
    auto a = by_size(ours_, ours), b = by_size(theirs_, theirs);
    for (const auto& [bytes, list] : a) {
      const auto same = b.find(bytes);
      if (same == b.end()) {
        our_rest.insert(our_rest.end(), list.begin(), list.end());
        continue;
      }
      matcher part(ours_, theirs_, both_);
      part.align(list, same->second);
      b.erase(same);
      found_.allocations += part.found_.allocations;
      found_.bytes += part.found_.bytes;
      append(our_rest, part.found_.missed_by_cupti);
      append(their_rest, part.found_.missed_by_hooks);
    }
    for (const auto& [bytes, list] : b) append(their_rest, list);
    std::ranges::sort(our_rest, earlier(ours_));
    std::ranges::sort(their_rest, earlier(theirs_));
    align(our_rest, their_rest);
  }

  [[nodiscard]] matches take() {
    std::ranges::sort(found_.missed_by_cupti, earlier(ours_));
    std::ranges::sort(found_.missed_by_hooks, earlier(theirs_));
    return std::move(found_);
  }

 private:
  static void append(indices& to, const indices& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  [[nodiscard]] static std::map<std::uint64_t, indices> by_size(const std::vector<sighting>& all,
                                                                std::span<const std::size_t> list) {
    std::map<std::uint64_t, indices> sizes;
    for (const std::size_t index : list) sizes[all[index].bytes].push_back(index);
    return sizes;
  }

  // Or releases, which need not say one.
  [[nodiscard]] bool same_sizes(std::span<const std::size_t> ours,
                                std::span<const std::size_t> theirs) const {
    const auto is_release = [](const std::vector<sighting>& all, auto list) {
      return !list.empty() && all[list[0]].is_release;
    };
    if (is_release(ours_, ours) || is_release(theirs_, theirs)) return true;
    if (ours.size() != theirs.size()) return false;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (ours_[ours[i]].bytes != theirs_[theirs[i]].bytes) return false;
    }
    return true;
  }

  void pair(std::size_t ours, std::size_t theirs) {
    const auto &a = ours_[ours], &b = theirs_[theirs];
    if (a.is_release) {
      ++found_.releases;
      return;
    }
    ++found_.allocations;
    found_.bytes += a.bytes;
    if (a.bytes != b.bytes) found_.other_size.push_back({ours, theirs});
  }

  // Whether the second in `list` is nearer in time to `other` than its first.
  [[nodiscard]] static bool next_is_nearer(const std::vector<sighting>& all,
                                           std::span<const std::size_t> list,
                                           const sighting& other) {
    return list.size() > 1 && apart(all[list[1]], other) < apart(all[list[0]], other);
  }

  // Leaves out surplus sightings from outside of the time in which both were there.
  void leave_out_edges(std::span<const std::size_t>& list, std::size_t others,
                       const std::vector<sighting>& all, indices& missed) const {
    while (list.size() > others && !both_.has(all[list.back()])) {
      missed.push_back(list.back());
      list = list.first(list.size() - 1);
    }
    while (list.size() > others && !both_.has(all[list.front()])) {
      missed.push_back(list.front());
      list = list.subspan(1);
    }
  }

  // As many on both sides: one after the other. Else some are missing, and what is nearest in time
  // belongs together.
  void align(std::span<const std::size_t> ours, std::span<const std::size_t> theirs) {
    leave_out_edges(ours, theirs.size(), ours_, found_.missed_by_cupti);
    leave_out_edges(theirs, ours.size(), theirs_, found_.missed_by_hooks);
    while (!ours.empty() && !theirs.empty()) {
      if (ours.size() > theirs.size() && next_is_nearer(ours_, ours, theirs_[theirs[0]])) {
        found_.missed_by_cupti.push_back(ours[0]);
        ours = ours.subspan(1);
      } else if (theirs.size() > ours.size() && next_is_nearer(theirs_, theirs, ours_[ours[0]])) {
        found_.missed_by_hooks.push_back(theirs[0]);
        theirs = theirs.subspan(1);
      } else {
        pair(ours[0], theirs[0]);
        ours = ours.subspan(1);
        theirs = theirs.subspan(1);
      }
    }
    for (const std::size_t index : ours) found_.missed_by_cupti.push_back(index);
    for (const std::size_t index : theirs) found_.missed_by_hooks.push_back(index);
  }

  const std::vector<sighting>& ours_;
  const std::vector<sighting>& theirs_;
  const common_time& both_;
  matches found_;
};

[[nodiscard]] std::pair<std::uint64_t, bool> group_of(const sighting& one) {
  return {one.address, one.is_release};
}

// The part of a list that is of the same address and kind as its first.
[[nodiscard]] std::span<const std::size_t> first_group(const std::vector<sighting>& all,
                                                       std::span<const std::size_t> list) {
  std::size_t count = 0;
  while (count < list.size() && group_of(all[list[count]]) == group_of(all[list[0]])) ++count;
  return list.first(count);
}

}  // namespace

matches match(const std::vector<sighting>& ours, const std::vector<sighting>& theirs,
              const common_time& both) {
  const indices our_order = by_address(ours), their_order = by_address(theirs);
  std::span<const std::size_t> a = our_order, b = their_order;
  matcher found(ours, theirs, both);
  while (!a.empty() || !b.empty()) {
    const bool has_a = !a.empty() && (b.empty() || group_of(ours[a[0]]) <= group_of(theirs[b[0]]));
    const bool has_b = !b.empty() && (a.empty() || group_of(theirs[b[0]]) <= group_of(ours[a[0]]));
    const auto of_a = has_a ? first_group(ours, a) : std::span<const std::size_t>();
    const auto of_b = has_b ? first_group(theirs, b) : std::span<const std::size_t>();
    found.match_address(of_a, of_b);
    a = a.subspan(of_a.size());
    b = b.subspan(of_b.size());
  }
  return found.take();
}

}  // namespace memtrace::audit
