// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/perfetto_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace memtrace::exporting {

using attribution::category;

namespace {

[[nodiscard]] std::string device_words(const process& from, std::uint32_t device) {
  for (const auto& one : from.report.devices) {
    if (one.facts.device == device) return fmt::format("cuda:{} {}", device, one.name);
  }
  return fmt::format("cuda:{}", device);
}

// Names without dots, from the model inwards; "Net", "encoder", "0".
[[nodiscard]] std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Blocks that a module keeps do not show that it runs.
[[nodiscard]] bool says_what_runs(category what) {
  return what != category::weights && what != category::buffers &&
         what != category::optimizer_states;
}

}  // namespace

perfetto_device::perfetto_device(perfetto_packets& to, track_id parent, const process& from,
                                 std::uint32_t device, std::uint64_t start_ns,
                                 std::uint64_t moments_a_point)
    : to_(to),
      from_(from),
      device_(device),
      start_ns_(start_ns),
      moments_a_point_(moments_a_point),
      group_(to.track(parent, device_words(from, device))) {
  const auto totals = fmt::format("memtrace {} {} totals", from.number, device);
  allocated_ = to_.bytes_track(group_, "allocated", totals);
  reserved_ = to_.bytes_track(group_, "reserved", totals);
  used_ = to_.bytes_track(group_, "in use by anybody, as the driver says", totals);
  phases_ = to_.track(group_, "phases, as allocations show them");
  modules_ = to_.track(group_, "modules, as allocations show them");
  events_ = to_.track(group_, "events");
}

track_id perfetto_device::largest_track() {
  if (largest_ == 0) largest_ = to_.track(group_, "largest blocks");
  return largest_;
}

void perfetto_device::happened(const allocator_event& event, const block* one, const moment& now) {
  if (one != nullptr && event.kind == format::kind::alloc) ran(*one);
  if (event.kind == format::kind::oom) {
    note(event.time_ns, "out of memory",
         {{"requested", {}, event.size}, {"free on the device", {}, event.device_free}});
  }
  // Segments are few, and how much was reserved at most is to be exact.
  if (!has_told_ || now.reserved != told_.reserved) {
    to_.count(start_ns_ + now.time_ns, reserved_, now.reserved);
    told_.reserved = now.reserved;
  }
  if (waiting_++ == 0 || now.allocated > highest_.allocated) highest_ = now;
  if (waiting_ < moments_a_point_) return;
  count(highest_);
  waiting_ = 0;
}

void perfetto_device::count(const moment& now) {
  static constexpr std::string_view share = "memtrace {} {} categories";
  const auto time = start_ns_ + now.time_ns;
  if (!has_told_ || now.allocated != told_.allocated) to_.count(time, allocated_, now.allocated);
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    const auto what = static_cast<category>(i);
    const auto bytes = now.held[what];
    if (bytes == told_.held[what]) continue;
    auto& track = categories_[what];
    if (track == 0) {
      track = to_.bytes_track(group_, attribution::words_of(what),
                              fmt::format(fmt::runtime(share), from_.number, device_));
    }
    to_.count(time, track, bytes);
  }
  const auto reserved = told_.reserved;
  told_ = now;
  told_.reserved = reserved;
  has_told_ = true;
}

void perfetto_device::ran(const block& one) {
  const auto time = start_ns_ + one.born_ns;
  if (!has_phase_ || phase_ != one.born_in) {
    go_to_module(time, {});
    module_row_ = 0;
    if (has_phase_) to_.end_slice(time, phases_);
    track_event begun;
    begun.time_ns = time;
    begun.track = phases_;
    begun.name = name_of(one.born_in);
    to_.begin_slice(begun);
    has_phase_ = true;
    phase_ = one.born_in;
  }
  if (!says_what_runs(one.what) || one.module == module_row_) return;
  module_row_ = one.module;
  go_to_module(time, module_of(from_, one));
}

// Closes the modules that are left, and opens those that are entered.
void perfetto_device::go_to_module(std::uint64_t time_ns, const std::string& path) {
  const auto parts = parts_of(path);
  const auto [left, entered] = std::ranges::mismatch(open_modules_, parts);
  const auto common = static_cast<std::size_t>(left - open_modules_.begin());
  while (open_modules_.size() > common) {
    to_.end_slice(time_ns, modules_);
    open_modules_.pop_back();
  }
  for (auto part = entered; part != parts.end(); ++part) {
    track_event begun;
    begun.time_ns = time_ns;
    begun.track = modules_;
    begun.name = *part;
    to_.begin_slice(begun);
    open_modules_.push_back(*part);
  }
}

void perfetto_device::used(std::uint64_t time_ns, std::uint64_t bytes) {
  to_.count(start_ns_ + time_ns, used_, bytes);
}

void perfetto_device::note(std::uint64_t time_ns, std::string_view what,
                           const std::vector<annotation>& notes) {
  track_event noted;
  noted.time_ns = start_ns_ + time_ns;
  noted.track = events_;
  noted.name = what;
  noted.notes = notes;
  to_.instant(noted);
}

void perfetto_device::end(std::uint64_t time_ns) {
  if (waiting_ != 0) count(highest_);
  waiting_ = 0;
  go_to_module(start_ns_ + time_ns, {});
  if (std::exchange(has_phase_, false)) to_.end_slice(start_ns_ + time_ns, phases_);
}

}  // namespace memtrace::exporting
