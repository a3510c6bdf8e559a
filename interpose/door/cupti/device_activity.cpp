// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/device_activity.h"

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
