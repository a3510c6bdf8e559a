// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/growing_work.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace memtrace::verdicts {

namespace {

using windows = std::vector<growth::window>;

struct range {
  double low = 0;
  double high = 0;
};

// Of the peaks from `from` to before `to`.
[[nodiscard]] range peaks_of(const windows& peak, std::size_t from, std::size_t to) {
  range found{peak[from].top, peak[from].top};
  for (auto i = from + 1; i < to; ++i) {
    found.low = std::min(found.low, peak[i].top);
    found.high = std::max(found.high, peak[i].top);
  }
  return found;
}

}  // namespace

void step_inputs::add(const site_history& site, bool grows) {
  constexpr std::uint64_t most_births = 2;  // alive at once: this step's and the one before's
  if (site.births_stayed == 0 || site.births_stayed > most_births) return;
  const auto kind = site.main_kind();
  const bool comes_anew = kind.streamed_byte_steps > 0;
  if (kind.what != attribution::category::inputs || !comes_anew) return;
  (grows ? growing_ : same_) += site.series.latest();
}

bool work_grows(const device_series& whole, const step_inputs& inputs,
                const std::vector<culprit>& single, const growth::context& about) {
  if (single.empty() || !inputs.grow()) return false;
  const auto peak = growth::judge(whole.peak.values, about);
  const auto least = growth::judge(whole.least.values, about);
  double rates = 0;
  for (const auto& one : single) rates += one.bytes_per_step;
  return peak.bytes_per_step - least.bytes_per_step > 2 * rates;
}

// The least of a step shows what the one before has made: the peak is a step earlier.
bool made_for_new_sizes(const growth::series& site, const growth::series& peak) {
  constexpr std::size_t fewest_rises = 3;
  constexpr std::size_t shortest = 3;  // steps of one size
  constexpr double much_more = 2;
  const auto& held = site.windows();
  const auto& used = peak.windows();
  if (site.width() != peak.width() || held.size() != used.size()) return false;
  std::vector<std::size_t> rises;
  for (std::size_t i = 1; i < held.size(); ++i) {
    if (held[i].floor > held[i - 1].floor) rises.push_back(i);
  }
  if (rises.size() < fewest_rises) return false;
  auto before = rises.front() < 2 ? range{} : peaks_of(used, 0, rises.front() - 1);
  for (std::size_t k = 0; k < rises.size(); ++k) {
    const bool is_last = k + 1 == rises.size();
    const auto end = is_last ? held.size() : rises[k + 1] - 1;
    if (end < rises[k] + shortest - 1) return false;
    const auto now = peaks_of(used, rises[k], end);
    const double made = held[rises[k]].floor - held[rises[k] - 1].floor;
    const double larger = now.low - before.low;
    if (larger < much_more * made || now.high - now.low > larger / 2) return false;
    before = now;
  }
  return true;
}

}  // namespace memtrace::verdicts
