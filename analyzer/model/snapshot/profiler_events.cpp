// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/profiler_events.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "analyzer/trace/reader/decoder.h"

namespace memtrace::snapshot {

namespace {

constexpr unsigned root_depth = 1;
constexpr unsigned entry_depth = 3;  // {"traceEvents": [{
constexpr unsigned arguments_depth = 4;
constexpr std::uint64_t ns_per_us = 1000;
constexpr std::int64_t cuda = 1;  // c10::DeviceType

constexpr std::string_view memory_event = "[memory]";
constexpr std::string_view step_head = "ProfilerStep#";
constexpr std::string_view optimizer_head = "Optimizer.step#";
constexpr std::string_view optimizer_tail = ".step";
constexpr std::string_view engine_head = "autograd::engine::evaluate_function";

}  // namespace

std::optional<std::uint64_t> nanoseconds_of(std::string_view microseconds) {
  constexpr std::uint64_t most_us = std::numeric_limits<std::uint64_t>::max() / ns_per_us - 1;
  std::uint64_t whole = 0;
  const auto* const end = microseconds.data() + microseconds.size();
  const auto read = std::from_chars(microseconds.data(), end, whole);
  if (read.ec != std::errc() || whole > most_us) return std::nullopt;
  auto found = whole * ns_per_us;
  if (read.ptr == end) return found;
  if (*read.ptr != '.') return std::nullopt;
  std::uint64_t unit = ns_per_us / 10;
  for (const auto* at = read.ptr + 1; at != end; ++at, unit /= 10) {
    if (*at < '0' || *at > '9') return std::nullopt;
    found += unit * static_cast<std::uint64_t>(*at - '0');
  }
  return found;
}

bool profiler_events::stop(ending how) {
  how_ = how;
  return false;
}

// A list is no trace: the profiler's memory timeline is one of lists, of numbers.
bool profiler_events::token() {
  on_token_();
  if (!root_is_array_) return true;
  return stop(depth_ >= 2 ? ending::memory_timeline : ending::other);
}

bool profiler_events::other_value() {
  field_ = field::none;
  return root_is_array_ ? stop(ending::other) : token();
}

void profiler_events::take(field what, std::int64_t value) {
  const auto natural = [&](std::optional<std::uint64_t>& to) {
    if (value >= 0) to = static_cast<std::uint64_t>(value);
  };
  const auto time = [&](std::optional<std::uint64_t>& to) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / 1000;
    if (value >= 0 && value <= most) to = static_cast<std::uint64_t>(value) * ns_per_us;
  };
  switch (what) {
    case field::base_time:
      natural(to_.base_ns);
      break;
    case field::rank:
      natural(to_.rank);
      break;
    case field::world_size:
      natural(to_.world_size);
      break;
    case field::time:
      time(now_.time_ns);
      break;
    case field::duration:
      time(now_.duration_ns);
      break;
    case field::thread:
      natural(now_.thread);
      break;
    case field::address:
      natural(now_.address);
      break;
    case field::allocated:
      natural(now_.allocated);
      break;
    case field::reserved:
      natural(now_.reserved);
      break;
    case field::device_number:
      natural(now_.number);
      break;
    case field::device_total:
      natural(now_.total);
      break;
    case field::bytes:
      now_.bytes = value;
      break;
    case field::device_type:
      now_.device_type = value;
      break;
    case field::device:
      now_.device = value;
      break;
    default:
      break;
  }
}

bool profiler_events::number_integer(number_integer_t value) {
  take(std::exchange(field_, field::none), value);
  return token();
}

bool profiler_events::number_unsigned(number_unsigned_t value) {
  const auto what = std::exchange(field_, field::none);
  if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
    take(what, static_cast<std::int64_t>(value));
  }
  return token();
}

bool profiler_events::number_float(number_float_t /*value*/, const string_t& written) {
  const auto what = std::exchange(field_, field::none);
  if (what == field::time) now_.time_ns = nanoseconds_of(written);
  if (what == field::duration) now_.duration_ns = nanoseconds_of(written);
  return token();
}

bool profiler_events::string(string_t& value) {
  const auto what = std::exchange(field_, field::none);
  if (what == field::name) now_.name = std::move(value);
  if (what == field::category) now_.category = std::move(value);
  return root_is_array_ ? stop(ending::other) : token();
}

bool profiler_events::start_object(std::size_t /*elements*/) {
  if (root_is_array_) return stop(ending::other);
  ++depth_;
  if (depth_ == entry_depth) now_ = {};
  in_arguments_ = depth_ == arguments_depth && field_ == field::arguments;
  field_ = field::none;
  return token();
}

profiler_events::field profiler_events::field_named(std::string_view name) const {
  struct row {
    part in;
    unsigned depth;
    std::string_view name;
    field what;
  };
  constexpr std::array rows{
      row{part::events, entry_depth, "name", field::name},
      row{part::events, entry_depth, "cat", field::category},
      row{part::events, entry_depth, "ts", field::time},
      row{part::events, entry_depth, "dur", field::duration},
      row{part::events, entry_depth, "tid", field::thread},
      row{part::events, entry_depth, "args", field::arguments},
      row{part::events, arguments_depth, "Addr", field::address},
      row{part::events, arguments_depth, "Bytes", field::bytes},
      row{part::events, arguments_depth, "Device Type", field::device_type},
      row{part::events, arguments_depth, "Device Id", field::device},
      row{part::events, arguments_depth, "Total Allocated", field::allocated},
      row{part::events, arguments_depth, "Total Reserved", field::reserved},
      row{part::devices, entry_depth, "id", field::device_number},
      row{part::devices, entry_depth, "name", field::name},
      row{part::devices, entry_depth, "totalGlobalMem", field::device_total},
      row{part::distributed, 2, "rank", field::rank},
      row{part::distributed, 2, "world_size", field::world_size},
  };
  if (depth_ == arguments_depth && !in_arguments_) return field::none;
  const auto* const found = std::ranges::find_if(rows, [&](const row& one) {
    return one.in == part_ && one.depth == depth_ && one.name == name;
  });
  return found == rows.end() ? field::none : found->what;
}

bool profiler_events::key(string_t& name) {
  field_ = field_named(name);
  if (depth_ == root_depth) {
    part_ = name == "traceEvents"        ? part::events
            : name == "deviceProperties" ? part::devices
            : name == "distributedInfo"  ? part::distributed
                                         : part::none;
    if (name == "baseTimeNanoseconds") field_ = field::base_time;
  }
  return token();
}

bool profiler_events::end_object() {
  if (depth_ == entry_depth && part_ == part::events && !end_event()) return false;
  if (depth_ == entry_depth && part_ == part::devices) end_device();
  if (depth_ == arguments_depth) in_arguments_ = false;
  --depth_;
  return token();
}

bool profiler_events::start_array(std::size_t /*elements*/) {
  if (depth_ == 0) root_is_array_ = true;
  if (depth_ == root_depth && part_ == part::events) has_events_ = true;
  ++depth_;
  field_ = field::none;
  on_token_();
  return true;
}

bool profiler_events::end_array() {
  const bool going_on = token();
  --depth_;
  return going_on;
}

bool profiler_events::parse_error(std::size_t position, const std::string& /*token*/,
                                  const nlohmann::detail::exception& /*why*/) {
  error_at_ = position;
  return false;
}

bool profiler_events::end_event() {
  if (now_.name == memory_event) return add_memory();
  if (now_.name.starts_with(engine_head) && now_.thread &&
      to_.autograd.size() < profiler_contents::most_threads) {
    to_.autograd.insert(*now_.thread);
  }
  return now_.category != "user_annotation" || add_mark();
}

void profiler_events::end_device() {
  if (!now_.number || *now_.number >= trace::decoder::max_devices) return;
  to_.devices[static_cast<std::uint32_t>(*now_.number)] = {now_.name, now_.total.value_or(0)};
}

bool profiler_events::add_memory() {
  if (now_.device_type && *now_.device_type != cuda) {
    ++to_.others;
    return true;
  }
  const bool whole = now_.device_type && now_.time_ns && now_.address && now_.bytes &&
                     now_.allocated && now_.reserved && now_.device && *now_.device >= 0 &&
                     *now_.device < static_cast<std::int64_t>(trace::decoder::max_devices) &&
                     *now_.bytes != std::numeric_limits<std::int64_t>::min();
  if (!whole) {
    ++to_.skipped;
    return true;
  }
  if (*now_.bytes == 0) return true;
  if (to_.events.size() == profiler_contents::most_events) return stop(ending::too_many);
  std::uint32_t thread = 0;
  if (now_.thread) {
    const auto known = to_.threads.find(*now_.thread);
    if (known != to_.threads.end()) {
      thread = known->second;
    } else if (to_.threads.size() < profiler_contents::most_threads) {
      thread = static_cast<std::uint32_t>(to_.threads.size() + 1);
      to_.threads.emplace(*now_.thread, thread);
    }
  }
  to_.events.push_back({*now_.time_ns, *now_.address, *now_.bytes, *now_.allocated, *now_.reserved,
                        static_cast<std::uint32_t>(*now_.device), thread});
  return true;
}

bool profiler_events::add_mark() {
  const std::string_view name = now_.name;
  const bool is_step = name.starts_with(step_head);
  const bool is_optimizer = name.starts_with(optimizer_head) && name.ends_with(optimizer_tail) &&
                            name.size() > optimizer_head.size() + optimizer_tail.size();
  if ((!is_step && !is_optimizer) || !now_.time_ns || !now_.duration_ns) return true;
  if (to_.marks.size() == profiler_contents::most_marks) return stop(ending::too_many);
  if (now_.thread && to_.programs.size() < profiler_contents::most_threads) {
    to_.programs.insert(*now_.thread);
  }
  constexpr std::size_t longest_class = 200;
  profiler_mark made{*now_.time_ns, *now_.time_ns + *now_.duration_ns, {}};
  if (made.end_ns < made.begin_ns) return true;
  if (is_optimizer) {
    const auto left = name.size() - optimizer_head.size() - optimizer_tail.size();
    made.optimizer = name.substr(optimizer_head.size(), std::min(left, longest_class));
  }
  to_.marks.push_back(std::move(made));
  return true;
}

}  // namespace memtrace::snapshot
