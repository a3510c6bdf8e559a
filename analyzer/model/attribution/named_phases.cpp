// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/named_phases.h"

#include <algorithm>
#include <cstddef>

namespace memtrace::attribution {

namespace {

// A program has as many phases of its own as a suite has tests. Tools that wrap every operation in
// an NVTX range make names without end.
constexpr std::size_t most_own_names = 4096;
constexpr std::size_t most_nvtx_names = 64;
constexpr std::size_t deepest = 256;

}  // namespace

void named_phases::on_phase(const trace::event& head, const trace::phase_event& record) {
  using format::phase_action;
  using format::phase_source;
  if (record.action == phase_action::instant) return;
  if (record.action == phase_action::begin) latest_ = head.thread;
  if (record.source != phase_source::user && record.source != phase_source::nvtx) return;
  auto& thread = threads_[head.thread];
  if (record.action == phase_action::begin) {
    begin(thread, record);
    return;
  }
  if (end(thread, record)) return;
  // NVTX ranges may end in another thread than they began in.
  for (auto& [id, other] : threads_) {
    if (end(other, record)) return;
  }
}

void named_phases::begin(thread_state& thread, const trace::phase_event& record) {
  if (thread.open.size() >= deepest) return;
  const auto known = numbers_.find({record.source, record.name});
  const bool is_nvtx = record.source == format::phase_source::nvtx;
  const bool is_full =
      is_nvtx ? of_nvtx_ >= most_nvtx_names : names_.size() - of_nvtx_ >= most_own_names;
  open_phase opened;
  opened.name = record.name;
  opened.source = record.source;
  if (known == numbers_.end() && is_full) {
    opened.counts = false;
  } else if (known == numbers_.end()) {
    opened.number = static_cast<std::uint32_t>(names_.size());
    numbers_.emplace(std::pair(record.source, record.name), opened.number);
    names_.push_back(record.name);
    nvtx_.push_back(is_nvtx);
    of_nvtx_ += is_nvtx ? 1 : 0;
    begun_.push_back(1);
  } else {
    opened.number = known->second;
    ++begun_[opened.number];
  }
  if (std::ranges::find(thread.counting, opened.number) != thread.counting.end()) {
    opened.counts = false;
  }
  if (opened.counts) thread.counting.push_back(opened.number);
  thread.open.push_back(opened);
}

bool named_phases::end(thread_state& thread, const trace::phase_event& record) {
  const auto same =
      std::find_if(thread.open.rbegin(), thread.open.rend(), [&](const open_phase& candidate) {
        return candidate.source == record.source && candidate.name == record.name;
      });
  if (same == thread.open.rend()) return false;
  if (same->counts) std::erase(thread.counting, same->number);
  thread.open.erase(std::next(same).base());
  return true;
}

std::span<const std::uint32_t> named_phases::open_at(trace::thread_id thread, bool is_autograd) {
  auto found = threads_.find(thread);
  if (found == threads_.end() && is_autograd) found = threads_.find(latest_);
  return found == threads_.end() ? std::span<const std::uint32_t>() : found->second.counting;
}

}  // namespace memtrace::attribution
