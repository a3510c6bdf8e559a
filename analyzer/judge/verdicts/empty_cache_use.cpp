// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/empty_cache_use.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::remedies {

namespace {

using text::format_bytes;
using text::format_count;

constexpr std::uint64_t least_calls = 10;
constexpr std::uint64_t most_steps_a_call = 10;
constexpr std::size_t most_places = 64;
constexpr std::size_t most_calls_kept = 1u << 20;
// Its least share of the time, where no line is known that calls it: PyTorch itself calls it, too
// (after cuDNN's benchmark of convolutions), and nobody can leave that out.
constexpr double least_share = 1;  // %

[[nodiscard]] std::string duration(std::uint64_t ns) {
  constexpr std::uint64_t short_ns = 100'000'000;
  return ns < short_ns ? fmt::format("{:.2f} ms", static_cast<double>(ns) / 1e6)
                       : text::format_seconds(ns);
}

// Ascending ends; what is after the last one is one step more.
[[nodiscard]] std::uint64_t steps_with_a_call(std::vector<std::uint64_t> calls,
                                              std::span<const std::uint64_t> step_ends) {
  std::ranges::sort(calls);  // threads take turns
  std::uint64_t steps = 0;
  auto end = step_ends.begin();
  for (auto call = calls.begin(); call != calls.end();) {
    end = std::lower_bound(end, step_ends.end(), *call);
    ++steps;
    if (end == step_ends.end()) break;
    call = std::upper_bound(call, calls.end(), *end);
  }
  return steps;
}

[[nodiscard]] std::string how_often(std::uint64_t times, std::uint64_t steps) {
  if (steps == 0) return fmt::format("{} calls", format_count(times));
  return fmt::format("{} calls in {} steps", format_count(times), format_count(steps));
}

}  // namespace

void empty_cache_use::on_info(std::string_view key, std::string_view value) {
  if (key == format::info_key::simulated && !value.empty()) simulated_ = true;
}

void empty_cache_use::on_operation(const trace::event& head, const trace::operation_event& record) {
  using format::operation;
  if (record.operation == static_cast<std::uint64_t>(operation::empty_cache_begin)) {
    calls_[head.thread] = {true, head.time_ns};
    if (times_ == 0) first_ns_ = head.time_ns;
    if (began_ns_.size() < most_calls_kept) began_ns_.push_back(head.time_ns);
    freed_before_last_ = freed_bytes_;
    for (auto& [device, bytes] : missing_) bytes = 0;
  }
  if (record.operation != static_cast<std::uint64_t>(operation::empty_cache_end)) return;
  const auto found = calls_.find(head.thread);
  if (found == calls_.end() || !found->second.open) return;
  found->second.open = false;
  ++times_;
  inside_ns_ += head.time_ns - found->second.began_ns;
  last_ns_ = head.time_ns;
}

void empty_cache_use::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  if (calls_.empty()) return;
  using format::kind;
  if (record.kind == kind::segment_free || record.kind == kind::segment_unmap) {
    const auto found = calls_.find(head.thread);
    if (found == calls_.end() || !found->second.open) return;
    ++freed_segments_;
    freed_bytes_ += record.size;
    missing_[head.device] += record.size;
    if (places_.size() < most_places || places_.contains(record.stack)) ++places_[record.stack];
  } else if (record.kind == kind::segment_alloc || record.kind == kind::segment_map) {
    auto& missing = missing_[head.device];
    if (missing == 0) return;
    const auto again = std::min(missing, record.size);
    missing -= again;
    regained_bytes_ += again;
    ++regained_segments_;
  }
}

bool empty_cache_use::is_frequent(std::uint64_t steps,
                                  std::span<const std::uint64_t> step_ends) const {
  if (times_ < least_calls) return false;
  const auto with_a_call = step_ends.empty() ? times_ : steps_with_a_call(began_ns_, step_ends);
  return with_a_call * most_steps_a_call >= steps;
}

// Whether memory that it gave back stayed free: another process, or another library, could use it.
bool empty_cache_use::did_good() const {
  return regained_bytes_ < freed_before_last_ - freed_before_last_ / 2;
}

trace::stack_id empty_cache_use::most_frequent_place() const {
  const auto most =
      std::ranges::max_element(places_, {}, [](const auto& entry) { return entry.second; });
  return most == places_.end() ? trace::stack_id{} : most->first;
}

std::optional<verdicts::habit> empty_cache_use::finish(
    std::uint64_t steps, std::span<const std::uint64_t> step_ends) const {
  if (!is_frequent(steps, step_ends) || did_good()) return std::nullopt;
  const auto place = most_frequent_place();
  const auto frames = place ? code::frames_of(names_, place) : std::vector<code::source_frame>();
  if (frames.empty() && text::percent(inside_ns_, last_ns_ - first_ns_) < least_share)
    return std::nullopt;
  verdicts::habit found;
  found.id = "empty_cache_often";
  found.times = times_;
  found.nanoseconds = inside_ns_;
  found.calls = format::operation::empty_cache_begin;
  const auto where = place ? " at " + code::short_place(frames, {}) : std::string();
  found.title = fmt::format("torch.cuda.empty_cache(){}: it frees nothing that is in use", where);
  found.evidence =
      fmt::format("{}: {} inside them, {:.1f} % of the time from the first to the last{}",
                  how_often(times_, steps), duration(inside_ns_),
                  text::percent(inside_ns_, last_ns_ - first_ns_),
                  simulated_ ? " (simulated CUDA; on a GPU each cudaFree also waits for it)" : "");
  found.evidence += freed_bytes_ == 0
                        ? "; there was nothing to give back"
                        : fmt::format(
                              "; {} segments ({}) given back to CUDA, {} of {} asked for "
                              "again before the next call",
                              format_count(freed_segments_), format_bytes(freed_bytes_),
                              format_bytes(std::min(regained_bytes_, freed_before_last_)),
                              format_bytes(freed_before_last_));
  found.change =
      "Leave it out of the loop: freed memory is used again without it. `del` what is no longer "
      "needed is enough.";
  return found;
}

}  // namespace memtrace::remedies
