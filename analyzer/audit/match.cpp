// SPDX-License-Identifier: Apache-2.0
#include "analyzer/audit/match.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

namespace memtrace::audit {

namespace {

using indices = std::vector<std::size_t>;

// How far ahead a nearer counterpart is looked for.
constexpr std::size_t longest_search = 64;

// By address, then in the order in which it happened. At one moment a release comes first: an
// address must be free to be given out.
[[nodiscard]] indices by_address(const std::vector<sighting>& all) {
  indices order;
  order.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].taken_back) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto &x = all[a], &y = all[b];
    return std::tuple(x.address, x.time_ns, !x.is_release) <
           std::tuple(y.address, y.time_ns, !y.is_release);
  });
  return order;
}

[[nodiscard]] std::uint64_t apart(const sighting& a, const sighting& b) {
  const auto x = static_cast<std::uint64_t>(a.time_ns), y = static_cast<std::uint64_t>(b.time_ns);
  return a.time_ns > b.time_ns ? x - y : y - x;
}

class matcher {
 public:
  matcher(const std::vector<sighting>& ours, const std::vector<sighting>& theirs)
      : ours_(ours), theirs_(theirs) {}

  void match_address(std::span<const std::size_t> ours, std::span<const std::size_t> theirs) {
    if (same_sequence(ours, theirs)) {
      for (std::size_t i = 0; i < ours.size(); ++i) pair(ours[i], theirs[i]);
    } else {
      align(ours, theirs);
    }
  }
  void miss_ours(std::size_t index) { found_.missed_by_cupti.push_back(index); }
  void miss_theirs(std::size_t index) { found_.missed_by_hooks.push_back(index); }

  [[nodiscard]] matches take() {
    const auto earlier = [](const std::vector<sighting>& all) {
      return [&all](std::size_t a, std::size_t b) {
        return std::tuple(all[a].time_ns, a) < std::tuple(all[b].time_ns, b);
      };
    };
    std::ranges::sort(found_.missed_by_cupti, earlier(ours_));
    std::ranges::sort(found_.missed_by_hooks, earlier(theirs_));
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool same_sequence(std::span<const std::size_t> ours,
                                   std::span<const std::size_t> theirs) const {
    if (ours.size() != theirs.size()) return false;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (ours_[ours[i]].is_release != theirs_[theirs[i]].is_release) return false;
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

  // Whether one of the next in `list`, of the same kind, is nearer in time to `other` than its
  // first.
  [[nodiscard]] static bool later_is_nearer(const std::vector<sighting>& all,
                                            std::span<const std::size_t> list,
                                            const sighting& other) {
    const auto& first = all[list[0]];
    const auto distance = apart(first, other);
    for (const std::size_t index : list.subspan(1, std::min(list.size() - 1, longest_search))) {
      const auto& next = all[index];
      if (next.is_release == first.is_release) return apart(next, other) < distance;
    }
    return false;
  }

  // One of them is missing somewhere: what is nearest in time belongs together.
  void align(std::span<const std::size_t> ours, std::span<const std::size_t> theirs) {
    while (!ours.empty() && !theirs.empty()) {
      const auto &a = ours_[ours[0]], &b = theirs_[theirs[0]];
      const bool alike = a.is_release == b.is_release;
      if (alike ? later_is_nearer(ours_, ours, b) : a.time_ns <= b.time_ns) {
        miss_ours(ours[0]);
        ours = ours.subspan(1);
      } else if (!alike || later_is_nearer(theirs_, theirs, a)) {
        miss_theirs(theirs[0]);
        theirs = theirs.subspan(1);
      } else {
        pair(ours[0], theirs[0]);
        ours = ours.subspan(1);
        theirs = theirs.subspan(1);
      }
    }
    for (const std::size_t index : ours) miss_ours(index);
    for (const std::size_t index : theirs) miss_theirs(index);
  }

  const std::vector<sighting>& ours_;
  const std::vector<sighting>& theirs_;
  matches found_;
};

// The part of a list that has the address of its first.
[[nodiscard]] std::span<const std::size_t> first_address(const std::vector<sighting>& all,
                                                         std::span<const std::size_t> list) {
  std::size_t count = 0;
  while (count < list.size() && all[list[count]].address == all[list[0]].address) ++count;
  return list.first(count);
}

}  // namespace

matches match(const std::vector<sighting>& ours, const std::vector<sighting>& theirs) {
  const indices our_order = by_address(ours), their_order = by_address(theirs);
  std::span<const std::size_t> a = our_order, b = their_order;
  matcher found(ours, theirs);
  while (!a.empty() || !b.empty()) {
    const bool has_a = !a.empty() && (b.empty() || ours[a[0]].address <= theirs[b[0]].address);
    const bool has_b = !b.empty() && (a.empty() || theirs[b[0]].address <= ours[a[0]].address);
    const auto of_a = has_a ? first_address(ours, a) : std::span<const std::size_t>();
    const auto of_b = has_b ? first_address(theirs, b) : std::span<const std::size_t>();
    found.match_address(of_a, of_b);
    a = a.subspan(of_a.size());
    b = b.subspan(of_b.size());
  }
  return found.take();
}

}  // namespace memtrace::audit
