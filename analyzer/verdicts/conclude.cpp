// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/conclude.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyzer/growth/steps_to_oom.h"
#include "analyzer/verdicts/culprits.h"

namespace memtrace::verdicts {

namespace {

constexpr std::size_t most_site_verdicts = 20;

// Bytes of a device that PyTorch's allocator can have; 0: not known.
[[nodiscard]] std::uint64_t usable(const replay::replayer& replayed, std::uint32_t index) {
  const auto* const device = replayed.device(index);
  if (device == nullptr) return 0;
  const auto& facts = device->facts;
  auto bytes =
      facts.free_before_first_segment != 0 ? facts.free_before_first_segment : facts.total_bytes;
  const auto from_driver = replayed.driver().on_device(index);
  const auto reserved = device->allocator.totals().reserved;
  return bytes - std::min(bytes, from_driver - std::min(from_driver, reserved));
}

[[nodiscard]] bool is_negligible(double bytes_per_step, std::uint64_t capacity) {
  constexpr double steps = 10'000;
  return bytes_per_step * steps < std::max(1048576.0, 0.0005 * static_cast<double>(capacity));
}

struct teller {
  const collector& collected;
  const replay::replayer& replayed;
  const std::string& unit;

  [[nodiscard]] verdict start(subject about, growth::verdict found,
                              const thinned_series* shown) const {
    verdict made;
    made.about = std::move(about);
    made.bytes_per_step = found.bytes_per_step;
    made.found = std::move(found);
    if (shown != nullptr) made.series = shown->shown();
    made.unit = unit;
    return made;
  }

  void say_when(verdict& made, std::uint64_t capacity, const device_lives::whole& totals) const {
    made.steps_to_oom =
        growth::steps_to_oom(made.bytes_per_step, {capacity, static_cast<double>(totals.last_least),
                                                   static_cast<double>(totals.most_above_least)});
    const auto step_ns = collected.clock().ns_per_step();
    if (made.steps_to_oom && step_ns > 0) {
      made.ns_to_oom = static_cast<std::uint64_t>(
          std::min(static_cast<double>(*made.steps_to_oom) * step_ns, 9e18));
    }
  }
};

// What the device's own series shows is a leak only where a call site leaks.
void let_sites_decide(verdict& made, const growing_sites& sites, std::uint64_t capacity) {
  auto& found = made.found;
  if (sites.all.empty()) {
    if (!is_leak(found.shape)) return;
    found.shape = sites.largest_otherwise == growth::shape::steady ? growth::shape::warmup_plateau
                                                                   : sites.largest_otherwise;
    found.bytes_per_step = found.bytes_per_step_low = found.bytes_per_step_high = 0;
    found.negligible = false;
    made.bytes_per_step = 0;
    return;
  }
  made.culprits = suspects_of(sites);
  const auto& first = made.culprits.front().found;
  if (!is_leak(found.shape)) {
    found = first;
    found.bytes_per_step_low = found.bytes_per_step_high = 0;
    for (const auto& one : sites.all) {
      found.bytes_per_step_low += one.found.bytes_per_step_low;
      found.bytes_per_step_high += one.found.bytes_per_step_high;
    }
  }
  found.bytes_per_step = made.bytes_per_step = sites.bytes_per_step;
  found.confidence = std::max(found.confidence, first.confidence);
  found.negligible = is_negligible(sites.bytes_per_step, capacity);
}

void tell_sites(const teller& with, std::uint32_t device, const growing_sites& sites,
                std::vector<verdict>& verdicts) {
  for (std::size_t i = 0; i < std::min(sites.all.size(), most_site_verdicts); ++i) {
    const auto& one = sites.all[i];
    auto made =
        with.start({subject_kind::site, device, fmt::format("{}", one.site)}, one.found, nullptr);
    made.culprits = {one};
    made.culprits.front().share = 1;
    verdicts.push_back(std::move(made));
  }
}

void tell_categories(const teller& with, const std::vector<growing_sites>& devices,
                     std::vector<verdict>& verdicts) {
  attribution::by_category<double> rates{};
  for (const auto& sites : devices) {
    for (const auto& one : sites.all) rates[one.what] += one.bytes_per_step;
  }
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    const auto what = static_cast<attribution::category>(i);
    if (rates[what] == 0) continue;
    const auto values = with.collected.categories().of(what, with.collected.clock().now());
    auto found = growth::judge(values);
    if (!is_leak(found.shape)) continue;
    thinned_series shown;
    for (const auto value : values) shown.add(value, 1);
    verdicts.push_back(with.start({subject_kind::category, 0, std::string(name_of(what))},
                                  std::move(found), &shown));
  }
}

// Reserved grows though allocated does not: free memory in pieces that nothing fits into.
void tell_reserved(const teller& with, std::uint32_t device, const device_lives::whole& totals,
                   const growth::context& about, std::vector<verdict>& verdicts) {
  auto found = growth::judge(totals.reserved, about);
  if (!is_leak(found.shape) || !is_leak(growth::judge(totals.cached, about).shape)) return;
  verdicts.push_back(
      with.start({subject_kind::reserved, device, {}}, std::move(found), &totals.reserved_shown));
}

void tell_outside(const teller& with, std::uint32_t device, const device_lives::whole& totals,
                  const growth::context& about, std::vector<verdict>& verdicts) {
  auto found = growth::judge(totals.outside, about);
  if (!is_leak(found.shape)) return;
  verdicts.push_back(
      with.start({subject_kind::outside, device, {}}, std::move(found), &totals.outside_shown));
}

}  // namespace

findings conclude(const collector& collected, const replay::replayer& replayed,
                  const std::string& unit) {
  const teller with{collected, replayed, unit};
  findings made;
  std::vector<verdict> others;
  std::vector<growing_sites> by_device;
  for (const auto& [index, record] : replayed.devices()) {
    const auto found = collected.devices().find(index);
    if (found == collected.devices().end()) continue;
    const auto& device = *found->second;
    const auto& totals = device.totals();
    const growth::context about{.capacity_bytes = usable(replayed, index)};
    const auto& sites = by_device.emplace_back(find_growing(device.book(), device, about));
    auto whole = with.start({subject_kind::device, index, {}}, growth::judge(totals.least, about),
                            &totals.least_shown);
    let_sites_decide(whole, sites, about.capacity_bytes);
    if (is_leak(whole.found.shape)) with.say_when(whole, about.capacity_bytes, totals);
    if (!is_leak(whole.found.shape)) tell_reserved(with, index, totals, about, others);
    tell_outside(with, index, totals, about, others);
    tell_sites(with, index, sites, others);
    made.verdicts.push_back(std::move(whole));
  }
  tell_categories(with, by_device, others);
  std::ranges::move(others, std::back_inserter(made.verdicts));
  return made;
}

}  // namespace memtrace::verdicts
