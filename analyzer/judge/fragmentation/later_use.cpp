// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/pieces.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/judge/fragmentation/live_bytes.h"

namespace memtrace::fragmentation {

namespace {

using allocator::action;
using allocator::request_log;

struct allocation {
  std::uint64_t address = 0;
  std::uint64_t end = 0;
};

// Calls `look` with each allocation of [first, last) that got memory.
template <class Look>
void each_allocation(const request_log& log, std::uint32_t first, std::uint32_t last, Look look) {
  for (auto i = first; i < last; ++i) {
    const auto& one = log.requests[i];
    if (one.what() != action::allocate || one.block >= log.addresses.size()) continue;
    const auto address = log.addresses[one.block];
    if (address != 0) look(i, allocation{address, address + least_block(one.size)});
  }
}

// How far segments have been used, from when they were got on.
class high_water {
 public:
  high_water(const allocator::layout& heap, const device_history& history, std::uint64_t until) {
    for (const auto& segment : heap.segments) {
      marks_.push_back({segment.address, segment.address + segment.bytes, 0, segment.address});
    }
    for (const auto& change : history.changes) {
      if (change.event > until) break;
      if (!change.got) continue;
      auto* const place = at(change.address);
      if (place != nullptr && place->begin == change.address) place->got = change.event;
    }
  }

  void use(std::uint64_t event, const allocation& by) {
    auto* const place = at(by.address);
    if (place != nullptr && event > place->got) place->used = std::max(place->used, by.end);
  }
  [[nodiscard]] std::uint64_t of(std::size_t segment) const { return marks_[segment].used; }

 private:
  struct mark {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t got = 0;  // event
    std::uint64_t used = 0;
  };
  [[nodiscard]] mark* at(std::uint64_t address) {
    auto next = std::ranges::upper_bound(marks_, address, {}, &mark::begin);
    if (next == marks_.begin()) return nullptr;
    --next;
    return address < next->end ? &*next : nullptr;
  }
  std::vector<mark> marks_;
};

// Pieces until something else happens to them.
class watch {
 public:
  explicit watch(const std::vector<piece>& pieces) : pieces_(pieces) {
    for (const auto& one : pieces) used_until_.push_back(one.address);
    next_open_.resize(pieces.size() + 1);
    std::iota(next_open_.begin(), next_open_.end(), std::size_t{0});
    left_ = pieces.size();
  }
  [[nodiscard]] bool done() const { return left_ == 0; }

  void allocate(const allocation& by) {
    auto i = first_ending_after(by.address);
    if (i == pieces_.size() || pieces_[i].address >= by.end) return;
    if (by.address >= pieces_[i].address && by.end <= pieces_[i].end()) {
      if (next_open_[i] == i) used_until_[i] = std::max(used_until_[i], by.end);
      return;
    }
    close(i, by.end);
  }
  void give_back(std::uint64_t address, std::uint64_t bytes) {
    const auto i = first_ending_after(address);
    close(i, address + bytes);
  }
  [[nodiscard]] std::uint64_t used(std::size_t piece) const {
    return used_until_[piece] - pieces_[piece].address;
  }

 private:
  [[nodiscard]] std::size_t first_ending_after(std::uint64_t address) const {
    const auto found = std::ranges::upper_bound(pieces_, address, {}, &piece::end);
    return static_cast<std::size_t>(found - pieces_.begin());
  }
  // Each piece once, however often something reaches over it.
  void close(std::size_t i, std::uint64_t end) {
    for (i = open_from(i); i < pieces_.size() && pieces_[i].address < end; i = open_from(i + 1)) {
      next_open_[i] = i + 1;
      --left_;
    }
  }
  [[nodiscard]] std::size_t open_from(std::size_t i) {
    auto found = i;
    while (next_open_[found] != found) found = next_open_[found];
    while (next_open_[i] != found && i != found) i = std::exchange(next_open_[i], found);
    return found;
  }

  const std::vector<piece>& pieces_;
  std::vector<std::uint64_t> used_until_;
  std::vector<std::size_t> next_open_;  // itself, where it is open; the end is
  std::size_t left_ = 0;
};

[[nodiscard]] bool may_be_unused(const piece& one, const allocator::layout& heap) {
  const bool own =
      one.why == reason::empty_segments || one.why == reason::survivors || one.why == reason::split;
  return own && !heap.segments[one.segment].expandable;
}

}  // namespace

void mark_used_again(std::vector<piece>& pieces, const request_log& log,
                     const device_history& history, std::uint32_t request) {
  if (pieces.empty() || request >= log.requests.size()) return;
  watch over(pieces);
  auto change =
      std::ranges::upper_bound(history.changes, log.events[request], {}, &segment_change::event);
  each_allocation(log, request + 1, static_cast<std::uint32_t>(log.requests.size()),
                  [&](std::uint32_t index, const allocation& by) {
                    if (over.done()) return;
                    const auto event = log.events[index];
                    for (; change != history.changes.end() && change->event < event; ++change) {
                      if (!change->got) over.give_back(change->address, change->bytes);
                    }
                    over.allocate(by);
                  });
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].used_again = over.used(i);
}

std::vector<piece> cut_never_used(const std::vector<piece>& pieces, const allocator::layout& heap,
                                  const request_log& log, const device_history& history,
                                  std::uint32_t request) {
  if (!history.complete || request >= log.requests.size()) return pieces;
  high_water marks(heap, history, log.events[request]);
  each_allocation(log, 0, request + 1, [&](std::uint32_t index, const allocation& by) {
    marks.use(log.events[index], by);
  });
  std::vector<piece> cut;
  for (const auto& one : pieces) {
    const auto border = std::max(marks.of(one.segment), one.address);
    if (!may_be_unused(one, heap) || border >= one.end()) {
      cut.push_back(one);
      continue;
    }
    auto fresh = one;
    fresh.address = border;
    fresh.bytes = one.end() - border;
    fresh.why = reason::never_used;
    const auto before = border - one.address;
    fresh.used_again = one.used_again - std::min(one.used_again, before);
    if (before != 0) {
      auto used = one;
      used.bytes = before;
      used.used_again = std::min(one.used_again, before);
      cut.push_back(used);
    }
    cut.push_back(fresh);
  }
  return cut;
}

}  // namespace memtrace::fragmentation
