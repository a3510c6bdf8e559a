// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/other_verdicts.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/judge/verdicts/device_verdict.h"

namespace memtrace::verdicts {

namespace {

constexpr std::size_t most_site_verdicts = 20;

void tell_if_leak(const verdict_maker& with, subject about, const judged_series& series,
                  const growth::context& context, std::vector<verdict>& to) {
  auto found = growth::judge(series.values, context);
  if (is_leak(found.shape))
    to.push_back(with.make(std::move(about), std::move(found), &series.shown));
}

[[nodiscard]] bool is_told(const std::vector<verdict>& devices, std::uint32_t device,
                           std::uint32_t site) {
  return std::ranges::any_of(devices, [&](const verdict& one) {
    return one.about.device == device && is_leak(one.found.shape) && !one.culprits.empty() &&
           one.culprits.front().site == site;
  });
}

void tell_episodes(verdict_maker with, const std::string& name, const timeline* longest, bool calls,
                   const std::vector<verdict>& devices, std::vector<verdict>& to) {
  if (longest == nullptr) return;
  if (calls) with.unit = "call";
  for (const auto& [index, device] : longest->devices()) {
    const growth::context context{.capacity_bytes = with.capacity_of(index)};
    const auto sites = find_growing(index, device, context);
    if (sites.all.empty() || is_told(devices, index, sites.all.front().site)) continue;
    to.push_back(judge_device(with, {subject_kind::phase, index, name}, device, sites,
                              longest->clock(), context));
  }
}

}  // namespace

void tell_sites(const verdict_maker& with, std::uint32_t device, const growing_sites& sites,
                std::vector<verdict>& to) {
  for (std::size_t i = 0; i < std::min(sites.all.size(), most_site_verdicts); ++i) {
    const auto& one = sites.all[i];
    auto made =
        with.make({subject_kind::site, device, fmt::format("{}", one.site)}, one.found, nullptr);
    made.culprits = {one};
    made.culprits.front().share = 1;
    to.push_back(std::move(made));
  }
}

void tell_categories(const verdict_maker& with, const collector& collected,
                     const std::vector<growing_sites>& devices, std::vector<verdict>& to) {
  attribution::by_category<growing_sites> found;
  for (const auto& sites : devices) {
    for (const auto& one : sites.all) {
      found[one.what].all.push_back(one);
      found[one.what].bytes_per_step += one.bytes_per_step;
    }
  }
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    const auto what = static_cast<attribution::category>(i);
    auto& sites = found[what];
    if (sites.all.empty()) continue;
    judged_series series;
    for (const auto value : collected.categories().of(what, collected.steps().clock().now())) {
      series.add(value, 1);
    }
    const auto before = to.size();
    tell_if_leak(with, {subject_kind::category, 0, std::string(name_of(what))}, series, {}, to);
    if (to.size() == before) continue;
    for (auto& one : sites.all) one.share = one.bytes_per_step / sites.bytes_per_step;
    to.back().culprits = suspects_of(sites.all);
  }
}

void tell_reserved(const verdict_maker& with, std::uint32_t device, const device_series& whole,
                   const segment_makers& makers, const growth::context& about,
                   std::vector<verdict>& to) {
  // Of what is reserved for larger peaks, too, some part is always left over: fragmentation is
  // where the peaks explain less than a tenth.
  constexpr double most_of_growth = 0.9;
  const auto stranded = growth::judge(whole.stranded.values, about);
  const auto reserved = growth::judge(whole.reserved.values, about);
  if (!is_leak(stranded.shape) ||
      stranded.evidence.net_bytes < most_of_growth * reserved.evidence.net_bytes)
    return;
  const auto before = to.size();
  tell_if_leak(with, {subject_kind::reserved, device, {}}, whole.reserved, about, to);
  if (to.size() != before) {
    to.back().culprits = suspects_of(makers.culprits(to.back().bytes_per_step));
  }
}

void tell_outside(const verdict_maker& with, std::uint32_t device, const device_series& whole,
                  const growth::context& about, std::vector<verdict>& to) {
  tell_if_leak(with, {subject_kind::outside, device, {}}, whole.outside, about, to);
}

void tell_phases(const verdict_maker& with, const collector& collected,
                 const trace::dictionary& names, const std::vector<verdict>& devices,
                 std::vector<verdict>& to) {
  const auto& phases = collected.phases();
  tell_episodes(with, "evaluation", phases.evaluation().longest(), true, devices, to);
  for (const auto& [name, found] : phases.by_name()) {
    tell_episodes(with, std::string(names[name]), found.longest(), found.by_calls(), devices, to);
  }
}

}  // namespace memtrace::verdicts
