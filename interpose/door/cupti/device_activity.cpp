// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/device_activity.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "memtrace/host_samples.h"

namespace memtrace::cupti {
namespace {

void put(recorder& to, std::size_t device, const char* suffix, std::uint64_t value) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "%s%zu%s", format::host::device_prefix, device, suffix);
  to.counter(name, static_cast<double>(value));
}

}  // namespace

// Puts `one` in the place of those in [position, last_merged), which it covers.
void busy_time::insert(std::size_t position, std::size_t last_merged,
                       const interval& one) noexcept {
  const auto begin = latest_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(count_);
  const auto to = begin + static_cast<std::ptrdiff_t>(position);
  const auto from = begin + static_cast<std::ptrdiff_t>(last_merged);
  if (position == last_merged) {
    std::copy_backward(to, end, end + 1);
    ++count_;
  } else {
    std::copy(from, end, to + 1);
    count_ -= last_merged - position - 1;
  }
  *to = one;
}

void busy_time::forget_oldest() noexcept {
  constexpr std::size_t forgotten = kept / 2;
  forgotten_until_ = latest_[forgotten - 1].end;
  std::copy(latest_.begin() + forgotten, latest_.begin() + count_, latest_.begin());
  count_ -= forgotten;
}

void busy_time::add(std::uint64_t start, std::uint64_t end) noexcept {
  start = std::max(start, forgotten_until_);
  if (start >= end) return;
  if (count_ == kept) forget_oldest();
  start = std::max(start, forgotten_until_);
  if (start >= end) return;
  std::size_t last = count_;
  while (last > 0 && latest_[last - 1].start > end) --last;
  interval one{start, end};
  std::uint64_t known = 0;
  std::size_t first = last;
  while (first > 0 && latest_[first - 1].end >= start) {
    const interval& other = latest_[--first];
    known += other.end - other.start;
    one = {std::min(one.start, other.start), std::max(one.end, other.end)};
  }
  total_ += one.end - one.start - known;
  insert(first, last, one);
}

device_activity::counts* device_activity::of(std::uint32_t device) noexcept {
  if (device >= devices_.size()) return nullptr;
  auto& found = devices_[device];
  if (!found) found.reset(new (std::nothrow) counts);
  return found.get();
}

void device_activity::kernel(std::uint32_t device, std::uint64_t start,
                             std::uint64_t end) noexcept {
  counts* const here = of(device);
  if (here == nullptr) return;
  here->busy.add(start, end);
  ++here->kernels;
  here->has_kernels = true;
}

void device_activity::migrated(std::uint32_t device, bool to_device, std::uint64_t bytes) noexcept {
  counts* const here = of(device);
  if (here == nullptr) return;
  (to_device ? here->migrated_in : here->migrated_out) += bytes;
  here->has_migration = true;
}

void device_activity::faulted(std::uint32_t device, std::uint64_t groups) noexcept {
  counts* const here = of(device);
  if (here == nullptr) return;
  here->faults += groups;
  here->has_migration = true;
}

void device_activity::record(recorder& to) noexcept {
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    counts* const here = devices_[device].get();
    if (here == nullptr) continue;
    if (std::exchange(here->has_kernels, false)) {
      put(to, device, format::host::device_busy_suffix, here->busy.total());
      put(to, device, format::host::device_kernels_suffix, here->kernels);
    }
    if (std::exchange(here->has_migration, false)) {
      put(to, device, format::host::device_migrated_in_suffix, here->migrated_in);
      put(to, device, format::host::device_migrated_out_suffix, here->migrated_out);
      put(to, device, format::host::device_faults_suffix, here->faults);
    }
  }
}

}  // namespace memtrace::cupti
