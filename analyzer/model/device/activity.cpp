// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device/activity.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "analyzer/base/text/units.h"
#include "memtrace/host_samples.h"

namespace memtrace::device {

namespace {

// Largest number that every double up to it tells exactly.
constexpr double largest_exact = 9007199254740992.0;

// Kernels are short: what is far below a second is told in milliseconds.
[[nodiscard]] std::string short_time(std::uint64_t ns) {
  constexpr std::uint64_t second = 1'000'000'000;
  return ns < second ? fmt::format("{:.2f} ms", static_cast<double>(ns) / 1e6)
                     : text::format_seconds(ns);
}

}  // namespace

bool add_counter(std::map<std::uint32_t, device_activity>& devices, std::string_view name,
                 double value) {
  constexpr std::string_view prefix = format::host::device_prefix;
  if (!name.starts_with(prefix) || !(value >= 0 && value <= largest_exact)) return false;
  name.remove_prefix(prefix.size());
  std::uint32_t device = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), device);
  constexpr std::uint32_t most_devices = 128;
  if (error != std::errc() || device >= most_devices) return false;
  const std::string_view suffix(end, static_cast<std::size_t>(name.data() + name.size() - end));
  std::uint64_t device_activity::*field = nullptr;
  if (suffix == format::host::device_busy_suffix) field = &device_activity::busy_ns;
  if (suffix == format::host::device_kernels_suffix) field = &device_activity::kernels;
  if (suffix == format::host::device_migrated_in_suffix) field = &device_activity::migrated_in;
  if (suffix == format::host::device_migrated_out_suffix) field = &device_activity::migrated_out;
  if (suffix == format::host::device_faults_suffix) field = &device_activity::faults;
  if (field == nullptr) return false;
  devices[device].*field = static_cast<std::uint64_t>(value);
  return true;
}

std::string kernel_words(const device_activity& device) {
  if (device.kernels == 0) return {};
  auto words = fmt::format("{} {} ran for {}", text::format_count(device.kernels),
                           device.kernels == 1 ? "kernel" : "kernels", short_time(device.busy_ns));
  if (device.listened_ns == 0) return words;
  const double share = 100.0 * static_cast<double>(std::min(device.busy_ns, device.listened_ns)) /
                       static_cast<double>(device.listened_ns);
  return words + fmt::format(", {:.1f} % of the time", share);
}

std::string migration_words(const device_activity& device) {
  if (device.migrated_in + device.migrated_out + device.faults == 0) return {};
  return fmt::format("unified memory moved: {} to the device, {} back; {} groups of page faults",
                     text::format_bytes(device.migrated_in),
                     text::format_bytes(device.migrated_out), text::format_count(device.faults));
}

void activity_collector::on_operation(const trace::event& at, const trace::operation_event& what) {
  if (static_cast<format::operation>(what.operation) != format::operation::witness_state) return;
  if (what.a == 1) {
    began_ns_ = at.time_ns;
    ended_ns_.reset();
  } else {
    ended_ns_ = at.time_ns;
  }
}

void activity_collector::on_counter(const trace::event& at, const trace::counter_event& counter) {
  if (add_counter(devices_, names_[counter.name], counter.value)) last_told_ns_ = at.time_ns;
}

std::map<std::uint32_t, device_activity> activity_collector::finish() const {
  if (!began_ns_) return {};
  auto found = devices_;
  // Killed: it is known as far as it was told.
  const auto end = ended_ns_.value_or(last_told_ns_);
  for (auto& [index, device] : found) device.listened_ns = end > *began_ns_ ? end - *began_ns_ : 0;
  return found;
}

}  // namespace memtrace::device
