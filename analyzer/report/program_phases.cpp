// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/program_phases.h"

#include <algorithm>

#include "analyzer/report/json_text.h"

namespace memtrace::report {

namespace {

// Programs that name each step anew fill no report; what comes after is left out.
constexpr std::size_t most_names = 1024;
constexpr auto none = static_cast<std::size_t>(-1);

void observe(program_phase& phase, std::uint32_t device, std::uint64_t bytes, std::uint64_t event) {
  auto& highest = phase.highest[device];
  if (bytes > highest.bytes) highest = {bytes, event};
}

}  // namespace

void program_phases::on_allocator(const trace::event& head, const trace::allocator_event&) {
  event_ = head.number;
}

void program_phases::on_report(const trace::report_event& report) {
  allocated_[report.device] = report.allocated;
  if (report.block_bytes <= 0) return;
  for (const auto index : open_) observe(phases_[index], report.device, report.allocated, event_);
}

std::size_t program_phases::phase_named(bool nvtx, trace::text_id name) {
  const auto found = known_.find({nvtx, name.value});
  if (found != known_.end()) return found->second;
  if (phases_.size() >= most_names) return none;
  known_.emplace(std::pair(nvtx, name.value), phases_.size());
  phases_.push_back({valid_utf8(names_[name]), nvtx, 0, {}});
  open_times_.push_back(0);
  return phases_.size() - 1;
}

// An end names its phase and may come from another thread than the beginning.
void program_phases::on_phase(const trace::event&, const trace::phase_event& record) {
  const bool nvtx = record.source == format::phase_source::nvtx;
  if (!nvtx && record.source != format::phase_source::user) return;
  if (record.action == format::phase_action::instant) return;
  const auto index = phase_named(nvtx, record.name);
  if (index == none) return;
  auto& times = open_times_[index];
  if (record.action == format::phase_action::begin) {
    ++phases_[index].times;
    if (times++ == 0) open_.push_back(index);
    for (const auto& [device, bytes] : allocated_) observe(phases_[index], device, bytes, event_);
  } else if (times != 0 && --times == 0) {
    std::erase(open_, index);
  }
}

void program_phases::on_counter(const trace::event&, const trace::counter_event& record) {
  const auto [at, is_new] = known_counters_.try_emplace(record.name.value, counters_.size());
  if (is_new) {
    if (counters_.size() >= most_names) {
      known_counters_.erase(at);
      return;
    }
    counters_.push_back({valid_utf8(names_[record.name]), 0, 0, record.value, record.value});
  }
  auto& counter = counters_[at->second];
  ++counter.times;
  counter.last = record.value;
  counter.least = std::min(counter.least, record.value);
  counter.most = std::max(counter.most, record.value);
}

}  // namespace memtrace::report
