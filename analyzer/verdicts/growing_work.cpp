// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/growing_work.h"

namespace memtrace::verdicts {

void step_inputs::add(const site_history& site, bool grows) {
  constexpr std::uint64_t most_births = 2;  // alive at once: this step's and the one before's
  if (site.births_stayed == 0 || site.births_stayed > most_births) return;
  const auto kind = site.main_kind();
  const bool comes_anew = kind.comes_late;
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

}  // namespace memtrace::verdicts
