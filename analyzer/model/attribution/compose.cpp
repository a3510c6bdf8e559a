// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/compose.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/model/attribution/attention.h"
#include "analyzer/model/attribution/parameter_table.h"
#include "analyzer/model/attribution/settled.h"

namespace memtrace::attribution {

namespace {

constexpr std::uint32_t float32 = 6;  // c10::ScalarType

[[nodiscard]] auto key_of(const block_group& group) {
  return std::tuple(group.what, group.how, group.rule, group.site.number, group.site.is_thread,
                    group.born_in, group.recomputed, group.attention_scores,
                    group.fp32_under_autocast, group.module, group.name, group.named_by_program,
                    group.detail, group.forward, group.node);
}
using group_key = decltype(key_of(block_group{}));

class composing {
 public:
  composing(const composer& with, const watch& moment,
            std::vector<by_category<std::uint64_t>>* by_parameter)
      : with_(with), moment_(moment), by_parameter_(by_parameter), settled_(with) {
    if (by_parameter_ != nullptr) by_parameter_->resize(with.parameters.all().size());
  }

  [[nodiscard]] composition run(bool with_blocks) {
    std::vector<kept_block> blocks = moment_.kept();
    for (auto& block : blocks) {
      block.found = at_moment(settled_.classification_of(block), moment_.moment().backwards_ended);
      scores_.learn(block, module_of(block), with_.run.softmaxes, with_.run.marks);
    }
    for (const auto& block : blocks) {
      if (block.bytes == 0 && block.asleep != 0) continue;  // all of it is asleep: it holds nothing
      add(block, with_blocks);
    }
    add_unrecorded();
    sort_groups();
    made_.modules = settled_.rows().take();
    std::ranges::sort(made_.blocks, {}, &block_detail::address);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::uint32_t row_of(const kept_block& block) {
    const published_parameter* parameter = nullptr;
    const auto row = settled_.row_of(block, &parameter);
    if (parameter != nullptr) count_parameter(*parameter, block);
    return row;
  }

  void count_parameter(const published_parameter& parameter, const kept_block& block) {
    if (by_parameter_ == nullptr) return;
    const auto index = static_cast<std::size_t>(&parameter - with_.parameters.all().data());
    (*by_parameter_)[index][block.found.what] += block.bytes;
  }

  [[nodiscard]] module_place module_of(const kept_block& block) const {
    const auto* const known = with_.modules.find(block.where.module);
    return known == nullptr ? module_place{block.where.module, {}} : *known;
  }

  [[nodiscard]] block_group group_of(const kept_block& block) {
    block_group group;
    group.what = block.found.what;
    group.how = block.found.how;
    group.rule = block.found.rule;
    group.site = block.where.site;
    group.born_in = block.where.born_in;
    group.recomputed = block.where.recomputed && group.what == category::activations;
    group.attention_scores = scores_.are_scores(block, module_of(block));
    group.fp32_under_autocast = group.what == category::activations &&
                                (block.saved.always & format::saved_autocast) != 0 &&
                                block.saved.scalar_type == float32;
    group.module = row_of(block);
    group.name = block.name;
    group.named_by_program = block.named_by == format::storage_role::user;
    group.detail = block.detail;
    group.forward = block.where.forward;
    group.node = block.where.node;
    return group;
  }

  void add(const kept_block& block, bool with_blocks) {
    auto group = group_of(block);
    const auto [known, is_new] = places_.try_emplace(key_of(group), made_.groups.size());
    if (is_new) made_.groups.push_back(group);
    count(known->second, block.bytes, 1);
    if (with_blocks) {
      made_.blocks.push_back({block.address, block.bytes, block.born_event, known->second});
    }
  }

  // Allocated before the recording began, or lost. Where frees were lost it is the other way
  // around: there are more blocks than the allocator says.
  void add_unrecorded() {
    std::uint64_t recorded = 0;
    for (const auto& group : made_.groups) recorded += group.held.bytes;
    made_.total = std::max(moment_.moment().total, recorded);
    made_.unrecorded = made_.total - recorded;
    if (made_.unrecorded == 0) return;
    made_.groups.emplace_back();
    count(static_cast<std::uint32_t>(made_.groups.size() - 1), made_.unrecorded, 0);
  }

  void count(std::uint32_t index, std::uint64_t bytes, std::uint64_t blocks) {
    auto& group = made_.groups[index];
    group.held.bytes += bytes;
    group.held.blocks += blocks;
    made_.categories[group.what].bytes += bytes;
    made_.categories[group.what].blocks += blocks;
    made_.evidence_bytes[group.what][group.how] += bytes;
    settled_.rows().add(group.module, group.what, bytes, group.attention_scores);
  }

  void sort_groups() {
    std::vector<std::uint32_t> order(made_.groups.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::uint32_t i) { return made_.groups[i].held.bytes; });
    std::vector<std::uint32_t> place(order.size());
    std::vector<block_group> sorted;
    sorted.reserve(order.size());
    for (const auto from : order) {
      place[from] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(made_.groups[from]);
    }
    made_.groups = std::move(sorted);
    for (auto& block : made_.blocks) block.group = place[block.group];
  }

  const composer& with_;
  const watch& moment_;
  std::vector<by_category<std::uint64_t>>* by_parameter_;
  settled_blocks settled_;
  score_shapes scores_;
  composition made_;
  std::map<group_key, std::uint32_t> places_;
};

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

composition composer::compose(const watch& moment, const steps_found& steps, bool with_blocks,
                              std::vector<by_category<std::uint64_t>>* by_parameter) const {
  if (!moment.is_set()) return {};
  auto made = composing(*this, moment, by_parameter).run(with_blocks);
  made.event = moment.moment().event;
  made.time_ns = moment.moment().time_ns;
  made.during = moment.moment().during;
  made.step = step_of(steps, made.event);
  return made;
}

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
  found.has_backward = run.phases.backward_seen();
  sum_parameters(parameters, found);
}

}  // namespace memtrace::attribution
