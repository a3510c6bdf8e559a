// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/step_series.h"

#include <algorithm>
#include <utility>

namespace memtrace::attribution {

namespace {

constexpr std::size_t most_steps_kept = 1u << 20;
constexpr std::size_t most_optimizers = 64;  // of a round
constexpr std::size_t most_known = 4096;
constexpr std::uint64_t first_rounds = 3;  // in which all that take turns have been met

void include(step_peaks& whole, const step_peaks& part) {
  whole.end_event = part.end_event;
  whole.end_ns = part.end_ns;
  whole.left = part.left;
  if (part.peak > whole.peak) {
    whole.peak = part.peak;
    whole.peak_event = part.peak_event;
  }
  for (std::size_t i = 0; i < phase_count; ++i) {
    if (part.peak_in.values[i] <= whole.peak_in.values[i]) continue;
    whole.peak_in.values[i] = part.peak_in.values[i];
    whole.peak_event_in.values[i] = part.peak_event_in.values[i];
  }
}

}  // namespace

void step_series::observe(std::uint64_t event, phase during, std::uint64_t total) {
  if (total > now_.peak) {
    now_.peak = total;
    now_.peak_event = event;
  }
  if (total > now_.peak_in[during]) {
    now_.peak_in[during] = total;
    now_.peak_event_in[during] = event;
  }
}

void step_series::close(const step_peaks& step) {
  ++count_;
  closed_ = step;
  if (steps_.size() < most_steps_kept) steps_.push_back(step);
}

void step_series::end_now(const step_end& end) {
  now_.end_event = end.event;
  now_.end_ns = end.time_ns;
  now_.left = end.allocated;
}

void step_series::boundary(const step_end& end) {
  end_now(end);
  close(std::exchange(now_, {}));
}

void step_series::optimizer_step(const step_end& end, trace::object_id optimizer) {
  end_now(end);
  const bool again = std::ranges::find(round_, optimizer) != round_.end();
  const bool is_new = known_.size() < most_known && known_.insert(optimizer).second;
  const bool succeeds = is_new && count_ >= first_rounds;
  if (again || succeeds || round_.size() >= most_optimizers) {
    close(std::exchange(round_peaks_, {}));
    round_.clear();
  }
  round_.push_back(optimizer);
  include(round_peaks_, std::exchange(now_, {}));
}

steps_found step_series::finish(step_boundary what) {
  if (!round_.empty()) close(std::exchange(round_peaks_, {}));
  round_.clear();
  steps_found found;
  found.boundary = count_ == 0 ? step_boundary::none : what;
  found.count = count_;
  found.steps = std::move(steps_);
  return found;
}

std::optional<std::uint64_t> step_of(const steps_found& steps, std::uint64_t event) {
  const auto after = std::ranges::lower_bound(steps.steps, event, {}, &step_peaks::end_event);
  if (after == steps.steps.end()) return std::nullopt;
  return static_cast<std::uint64_t>(after - steps.steps.begin());
}

}  // namespace memtrace::attribution
