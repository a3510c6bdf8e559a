// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/heap.h"

#include <algorithm>
#include <iterator>

namespace memtrace::exporting {

namespace {

using ranges = std::map<std::uint64_t, heap::range>;

[[nodiscard]] std::uint64_t end_of(const ranges::value_type& one) {
  return one.first + one.second.bytes;
}

// The range that has this address, or end().
[[nodiscard]] ranges::const_iterator find_in(const ranges& all, std::uint64_t address) {
  auto place = all.upper_bound(address);
  if (place == all.begin()) return all.end();
  --place;
  return address < end_of(*place) ? place : all.end();
}

void put_number(std::string& to, word name, std::uint64_t value) {
  get(to, name);
  pickle::integer(to, value);
}

void put_word(std::string& to, word name, word value) {
  get(to, name);
  get(to, value);
}

void put_frames(std::string& to, pickle::memo frames) {
  get(to, word::frames);
  frames == 0 ? pickle::list(to) : pickle::get(to, frames);
}

struct sums {
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t requested = 0;
};

void put_block(std::string& to, std::uint64_t address, std::uint64_t bytes,
               const heap::block* used) {
  pickle::dict(to);
  pickle::mark(to);
  put_number(to, word::address, address);
  put_number(to, word::size, bytes);
  put_number(to, word::requested_size, used == nullptr ? 0 : used->requested);
  const auto state = used == nullptr ? word::inactive
                     : used->pending ? word::active_pending_free
                                     : word::active_allocated;
  put_word(to, word::state, state);
  put_frames(to, used == nullptr ? 0 : used->frames);
  if (used != nullptr && used->words != 0) {
    get(to, word::user_metadata);
    pickle::get(to, used->words);
  }
  pickle::set_items(to);
}

}  // namespace

void heap::add(std::uint64_t address, const range& made) {
  remove(address, made.bytes);  // unless events are missing, nothing is there
  ranges_.emplace(address, made);
}

void heap::remove(std::uint64_t address, std::uint64_t bytes) {
  const auto end = address + bytes;
  auto place = ranges_.upper_bound(address);
  if (place != ranges_.begin()) --place;
  while (place != ranges_.end() && place->first < end) {
    const auto here = place++;
    const auto old = *here;
    if (end_of(old) <= address) continue;
    ranges_.erase(here);
    auto rest = old.second;
    if (old.first < address) {
      rest.bytes = address - old.first;
      ranges_.emplace(old.first, rest);
    }
    if (end_of(old) > end) {
      rest.bytes = end_of(old) - end;
      ranges_.emplace(end, rest);
    }
  }
}

std::uint64_t heap::segment_at(std::uint64_t address) const {
  const auto found = ranges_.find(address);
  return found == ranges_.end() || found->second.expandable ? 0 : found->second.bytes;
}

bool heap::is_in_segment(std::uint64_t address) const {
  return find_in(ranges_, address) != ranges_.end();
}

// A segment of which nothing is known but what lay in it.
void heap::know_place(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream) {
  if (is_in_segment(address)) return;
  auto first = address;
  auto end = address + bytes;
  auto place = unrecorded_.upper_bound(first);
  if (place != unrecorded_.begin() && end_of(*std::prev(place)) >= first) --place;
  while (place != unrecorded_.end() && place->first <= end) {
    first = std::min(first, place->first);
    end = std::max(end, end_of(*place));
    place = unrecorded_.erase(place);
  }
  range made;
  made.bytes = end - first;
  made.stream = stream;
  unrecorded_.emplace(first, made);
}

void heap::allocate(std::uint64_t address, const block& made) {
  know_place(address, made.bytes, made.stream);
  auto& place = blocks_.insert(address);
  active_ += made.bytes - place.bytes;
  place = made;
}

heap::block& heap::request_free(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream) {
  auto* found = blocks_.find(address);
  if (found == nullptr) {
    block unknown;
    unknown.bytes = bytes;
    unknown.requested = bytes;
    unknown.stream = stream;
    allocate(address, unknown);
    found = blocks_.find(address);
  }
  found->pending = true;
  return *found;
}

void heap::complete_free(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream) {
  const auto* const found = blocks_.find(address);
  if (found == nullptr) return know_place(address, bytes, stream);
  active_ -= found->bytes;
  blocks_.erase(address);
}

// Ranges of an expandable segment that follow one another are one, as in PyTorch's snapshot. What
// the recording did not know comes in the gaps.
ranges heap::whole_segments() const {
  ranges found;
  for (const auto& [address, part] : ranges_) {
    if (!found.empty()) {
      auto& last = *found.rbegin();
      if (part.expandable && last.second.expandable && end_of(last) == address &&
          last.second.stream == part.stream && last.second.pool == part.pool) {
        last.second.bytes += part.bytes;
        last.second.small = last.second.small && part.small;
        continue;
      }
    }
    found.emplace(address, part);
  }
  for (const auto& [address, part] : unrecorded_) {
    auto from = address;
    const auto end = address + part.bytes;
    while (from < end) {
      const auto inside = find_in(ranges_, from);
      if (inside != ranges_.end()) {
        from = end_of(*inside);
        continue;
      }
      const auto next = ranges_.upper_bound(from);
      auto piece = part;
      piece.bytes = (next == ranges_.end() ? end : std::min(end, next->first)) - from;
      found.emplace(from, piece);
      from += piece.bytes;
    }
  }
  return found;
}

void heap::put_segment(std::string& to, std::uint32_t device, std::uint64_t address,
                       const range& segment, std::vector<placed>::const_iterator first,
                       std::vector<placed>::const_iterator last) {
  sums of;
  for (auto at = first; at != last; ++at) {
    of.active += at->what.bytes;
    of.requested += at->what.requested;
    if (!at->what.pending) of.allocated += at->what.bytes;
  }
  pickle::dict(to);
  pickle::mark(to);
  put_number(to, word::device, device);
  put_number(to, word::address, address);
  put_number(to, word::total_size, segment.bytes);
  put_number(to, word::allocated_size, of.allocated);
  put_number(to, word::active_size, of.active);
  put_number(to, word::requested_size, of.requested);
  put_number(to, word::stream, segment.stream);
  put_word(to, word::segment_type, segment.small ? word::small : word::large);
  get(to, word::segment_pool_id);
  pickle::integer(to, segment.pool.first);
  pickle::integer(to, segment.pool.second);
  pickle::pair(to);
  get(to, word::is_expandable);
  pickle::boolean(to, segment.expandable);
  put_frames(to, segment.frames);
  get(to, word::blocks);
  {
    list_maker blocks(to);
    auto position = address;
    const auto put_free = [&](std::uint64_t until) {
      if (until <= position) return;
      blocks.next();
      put_block(to, position, until - position, nullptr);
      position = until;
    };
    const auto end = address + segment.bytes;
    for (auto at = first; at != last; ++at) {
      put_free(at->address);
      if (at->address < position) continue;  // events are missing: it would overlap
      blocks.next();
      const auto bytes = std::min(at->what.bytes, end - at->address);
      put_block(to, at->address, bytes, &at->what);
      position = at->address + bytes;
    }
    put_free(end);
  }
  pickle::set_items(to);
}

void heap::put(std::string& to, list_maker& made, std::uint32_t device) const {
  std::vector<placed> blocks;
  blocks.reserve(blocks_.size());
  blocks_.for_each([&](std::uint64_t address, const block& what) {
    blocks.push_back({address, what});
  });
  std::ranges::sort(blocks, {}, &placed::address);
  auto first = blocks.cbegin();
  for (const auto& one : whole_segments()) {
    first = std::lower_bound(first, blocks.cend(), one.first,
                             [](const placed& a, std::uint64_t b) { return a.address < b; });
    const auto last =
        std::lower_bound(first, blocks.cend(), end_of(one),
                         [](const placed& a, std::uint64_t b) { return a.address < b; });
    made.next();
    put_segment(to, device, one.first, one.second, first, last);
    first = last;
  }
}

}  // namespace memtrace::exporting
