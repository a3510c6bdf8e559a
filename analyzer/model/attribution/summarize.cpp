// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/summarize.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/model/attribution/parameter_rows.h"

namespace memtrace::attribution {

namespace {

[[nodiscard]] std::vector<fp32_site> fp32_sites(const composition& peak) {
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, fp32_site> found;
  for (const auto& group : peak.groups) {
    if (!group.fp32_under_autocast) continue;
    auto& site = found[{group.site.number, group.site.is_thread, group.module}];
    site.site = group.site;
    site.module = group.module;
    site.held.bytes += group.held.bytes;
    site.held.blocks += group.held.blocks;
  }
  std::vector<fp32_site> sites;
  for (const auto& [key, site] : found) sites.push_back(site);
  std::ranges::stable_sort(sites, std::greater(),
                           [](const fp32_site& site) { return site.held.bytes; });
  return sites;
}

[[nodiscard]] std::vector<named_phase> named_phases_of(const device_state& device,
                                                       const class named_phases& known) {
  auto found = device.named();
  for (std::uint32_t number = 0; number < found.size(); ++number) {
    found[number].name = known.names()[number];
    found[number].nvtx = known.is_nvtx(number);
    found[number].begun = known.begun(number);
  }
  std::erase_if(found, [](const named_phase& phase) { return phase.allocated + phase.freed == 0; });
  return found;
}

[[nodiscard]] bool is_inside(const module_place& place, const std::set<module_place>& others) {
  if (others.contains(place)) return true;
  for (auto path = place.path; !path.empty();) {
    path = parent_path(path);
    if (others.contains({place.root, path})) return true;
  }
  return false;
}

// A model that is told to checkpoint has the mark as well as its layers, which do it.
[[nodiscard]] std::set<module_place> innermost(std::set<module_place> places) {
  const auto all = places;
  for (const auto& place : all) {
    for (auto path = place.path; !path.empty();) {
      path = parent_path(path);
      places.erase({place.root, path});
    }
  }
  return places;
}

// As the agent saw, and beside these what ran again in backward.
[[nodiscard]] std::vector<checkpointed_module> checkpointed(const run_context& run,
                                                            const module_table& modules) {
  auto places = innermost(modules.checkpointed());
  for (const auto object : run.recomputed) {
    const auto* const place = modules.find(object);
    if (place != nullptr && !is_inside(*place, modules.checkpointed())) places.insert(*place);
  }
  std::vector<checkpointed_module> found;
  for (const auto& place : places) {
    found.push_back({modules.root_name(place.root), std::string(place.path),
                     std::string(modules.type_of(place))});
  }
  return found;
}

}  // namespace

device_result summarize(device_state& device, const composer& with) {
  device_result made;
  const bool with_blocks = with.run.wanted.keep_blocks;
  made.steps = device.steps();
  std::vector<by_category<std::uint64_t>> by_parameter;
  made.at_peak = with.compose(device.peak(), made.steps, with_blocks, &by_parameter);
  made.at = with.compose(device.at(), made.steps, with_blocks, nullptr);
  for (std::size_t i = 0; i < phase_count; ++i) {
    const auto& sums = device.phases().values[i];
    auto& phase = made.phases.values[i];
    phase.seen = sums.seen;
    phase.allocated = sums.allocated;
    phase.freed = sums.freed;
    phase.at_peak = with.compose(sums.highest, made.steps, false, nullptr);
  }
  made.named_phases = named_phases_of(device, with.run.named);
  by_parameter.resize(with.parameters.all().size());
  made.parameters = rows_of(with.parameters, by_parameter, with.modules, with.run.names);
  made.fp32_under_autocast = fp32_sites(made.at_peak);
  return made;
}

void summarize_run(const run_context& run, const module_table& modules,
                   const parameter_table& parameters, result& found) {
  found.checkpointed = checkpointed(run, modules);
  found.autocast = run.phases.autocast_seen();
  sum_parameters(parameters, found);
}

}  // namespace memtrace::attribution
