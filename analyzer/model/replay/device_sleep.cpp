// SPDX-License-Identifier: Apache-2.0
//
// What of a device's blocks is asleep: the part of device_replay that follows it.
#include <algorithm>
#include <utility>

#include "analyzer/model/replay/device_replay.h"

namespace memtrace::replay {

namespace {

// Far more than a program needs that sleeps now and then, and an end to traces that are made to
// take long.
constexpr std::uint64_t most_sleep_work = 1u << 26;

[[nodiscard]] bool overlap(const address_range& one, std::uint64_t begin, std::uint64_t bytes) {
  return begin < one.end && one.begin < begin + bytes;
}

}  // namespace

template <typename Visit>
void device_replay::for_each_block_in(address_range where, Visit visit) {
  if (!is_in_order_) {
    in_order_.clear();
    blocks_.for_each([&](std::uint64_t address, const block&) { in_order_.push_back(address); });
    std::ranges::sort(in_order_);
    is_in_order_ = true;
    sleep_work_ += in_order_.size();
  }
  auto at = std::ranges::upper_bound(in_order_, where.begin);
  if (at != in_order_.begin()) --at;
  for (; at != in_order_.end() && *at < where.end; ++at) {
    ++sleep_work_;
    auto* const found = blocks_.find(*at);
    if (found != nullptr && overlap(where, *at, found->bytes)) visit(*at, *found);
  }
}

bool device_replay::concerns(const backing_change& what) {
  if (what.is_backed) return asleep_.bytes_in(what.where) != 0;
  if (sleep_work_ >= most_sleep_work) return false;
  if (!segments_.segments().empty()) return !segments_.not_expandable(what.where).empty();
  bool found = false;
  for_each_block_in(what.where, [&](std::uint64_t, const block&) { found = true; });
  return found;
}

bool device_replay::on_backing(const trace::event& head, const backing_change& what) {
  sleep_changes_.clear();
  if (!concerns(what)) return false;
  observe_allocated();
  event_ = head.number;
  time_ns_ = head.time_ns;
  set_backing(what);
  note_sleep();
  if (what.is_backed) {
    observe_reserved();
    grown_ = true;
    observe_allocated();
  }
  return true;
}

void device_replay::set_backing(const backing_change& what) {
  std::vector<address_range> changed;
  if (what.is_backed) {
    changed = asleep_.remove(what.where);
  } else if (segments_.segments().empty()) {
    for_each_block_in(what.where, [&](std::uint64_t address, block& one) {
      const auto fresh = asleep_.add(
          {std::max(address, what.where.begin), std::min(address + one.bytes, what.where.end)});
      changed.insert(changed.end(), fresh.begin(), fresh.end());
    });
  } else {
    for (const auto& part : segments_.not_expandable(what.where)) {
      const auto fresh = asleep_.add(part);
      changed.insert(changed.end(), fresh.begin(), fresh.end());
    }
  }
  for (const auto& range : changed) {
    for (const auto& part : segments_.not_expandable(range)) {
      what.is_backed ? segments_.wake(part) : segments_.sleep(part);
    }
    for_each_block_in(range, [&](std::uint64_t address, block& one) {
      set_asleep(address, one, asleep_in(address, one.bytes));
    });
  }
}

void device_replay::forget_sleep(std::uint64_t address, std::uint64_t bytes) {
  if (asleep_.empty()) return;
  set_backing({segments_.with_whole_segments({address, address + bytes}), true});
  note_sleep();
}

void device_replay::set_asleep(std::uint64_t address, block& of, std::uint64_t bytes) {
  const auto difference = bytes - of.asleep;
  if (difference == 0) return;
  segments_.sleep_used(address, difference);
  const auto requested_before = of.resident_requested();
  const auto before = of.asleep;
  of.asleep = bytes;
  if (of.pending) {
    now_.pending -= difference;
    return;
  }
  now_.allocated -= difference;
  now_.requested += of.resident_requested() - requested_before;
  now_.asleep += difference;
  sites_.correct(of.site, ~difference + 1);
  if (before == 0) {
    sleepers_.add(of.site, bytes);
  } else if (bytes == 0) {
    sleepers_.remove(of.site, before);
  } else {
    sleepers_.correct(of.site, difference);
  }
  sleep_changes_.push_back({address, bytes});
}

void device_replay::note_sleep() {
  const auto before = std::exchange(sleep_.now, now_.asleep);
  if (now_.asleep == before) return;
  const bool fell = now_.asleep > before;
  if (fell && (!sleep_.fell_last || before == 0)) ++sleep_.times;
  sleep_.fell_last = fell;
  if (now_.asleep <= sleep_.most) return;
  sleep_.most = now_.asleep;
  sleep_.event = event_;
  sleep_.time_ns = time_ns_;
  sleepers_.mark_peak();
}

}  // namespace memtrace::replay
