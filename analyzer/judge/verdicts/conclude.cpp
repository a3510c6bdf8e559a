// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/conclude.h"

#include <algorithm>
#include <iterator>

#include "analyzer/judge/verdicts/device_verdict.h"
#include "analyzer/judge/verdicts/other_verdicts.h"

namespace memtrace::verdicts {

findings conclude(const collector& collected, const replay::replayer& replayed,
                  const trace::dictionary& names, const std::string& unit) {
  // So few steps tell nothing, and calls of a model may; not those of one or two steps alone, at
  // whose end what an episode has kept may go.
  constexpr std::uint64_t several = 4;
  const auto* const calls =
      collected.steps().clock().now() < several ? nullptr : collected.phases().run_by_calls();
  const auto& run = calls == nullptr ? collected.steps() : *calls;
  const verdict_maker with{replayed, calls == nullptr ? unit : "call"};
  findings made;
  std::vector<verdict> others;
  std::vector<growing_sites> by_device;
  for (const auto& [index, device] : run.devices()) {
    const growth::context context{.capacity_bytes = with.capacity_of(index)};
    auto& sites = by_device.emplace_back(find_growing(index, device, context));
    const auto now = collected.steps().clock().now();
    const auto weights = collected.categories().of(attribution::category::weights, now);
    for (auto& one : sites.all) {
      one.fits_weights =
          !weights.empty() && one.found.evidence.net_bytes <= static_cast<double>(weights.back());
      if (one.what != attribution::category::weights) continue;
      one.modules_run = collected.modules().all_run(index, one.site, now);
      one.modules_wrap_each_other = collected.modules().wrap_each_other(index, one.site, now);
      one.modules_take_turns = collected.modules().take_turns(index, one.site);
      one.in_running_model = collected.modules().model_runs(index, one.site, now);
      one.part_of_model = collected.modules().part_of(index, one.site, now);
    }
    made.verdicts.push_back(
        judge_device(with, {subject_kind::device, index, {}}, device, sites, run.clock(), context));
    if (!is_leak(made.verdicts.back().found.shape)) {
      tell_reserved(with, index, device.whole, collected.makers(index), context, others);
    }
    tell_outside(with, index, device.whole, context, others);
    tell_sites(with, index, sites, others);
  }
  if (calls == nullptr) tell_categories(with, collected, by_device, others);
  tell_phases(with, collected, names, made.verdicts, others);
  std::ranges::move(others, std::back_inserter(made.verdicts));
  return made;
}

}  // namespace memtrace::verdicts
