// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/parts.h"

#include <algorithm>

#include "analyzer/run/model/expected.h"

namespace memtrace::as_json {

namespace {

// More are only counted: a document of some megabytes can still be read.
constexpr std::size_t most_steps = 10'000;

[[nodiscard]] json evidence_json(const attribution::by_evidence<std::uint64_t>& bytes) {
  json made;
  for (std::size_t i = 0; i < attribution::evidence_count; ++i) {
    const auto how = static_cast<attribution::evidence>(i);
    made[std::string(name_of(how))] = bytes[how];
  }
  return made;
}

[[nodiscard]] json categories_json(const std::vector<run::category_row>& rows) {
  auto list = json::array();
  for (const auto& row : rows) {
    auto rules = json::object();
    for (const auto& one : row.rules) rules[std::string(one.rule)] = one.bytes;
    list.push_back({{"category", name_of(row.what)},
                    {"bytes", row.bytes},
                    {"blocks", row.blocks},
                    {"evidence", name_of(row.how)},
                    {"evidence_bytes", evidence_json(row.evidence_bytes)},
                    {"rules", rules},
                    {"recomputed_bytes", row.recomputed},
                    {"attention_scores_bytes", row.attention_scores},
                    {"fp32_under_autocast_bytes", row.fp32_under_autocast}});
  }
  return list;
}

[[nodiscard]] json modules_json(const std::vector<attribution::module_row>& rows) {
  auto list = json::array();
  for (const auto& row : rows) {
    const auto& bytes = row.bytes;
    const auto named =
        bytes[attribution::category::weights] + bytes[attribution::category::buffers] +
        bytes[attribution::category::gradients] + bytes[attribution::category::optimizer_states] +
        bytes[attribution::category::activations];
    const bool none = &row == rows.data();
    list.push_back({{"root", none ? json(nullptr) : json(row.root)},
                    {"path", none ? json(nullptr) : json(row.path)},
                    {"type", none ? json(nullptr) : json(row.type)},
                    {"parent", none || row.parent == 0 ? json(nullptr) : json(row.parent)},
                    {"weights_bytes", bytes[attribution::category::weights]},
                    {"buffers_bytes", bytes[attribution::category::buffers]},
                    {"gradients_bytes", bytes[attribution::category::gradients]},
                    {"optimizer_states_bytes", bytes[attribution::category::optimizer_states]},
                    {"activations_bytes", bytes[attribution::category::activations]},
                    {"attention_scores_bytes", row.attention_scores},
                    {"other_bytes", row.total - named},
                    {"total_bytes", row.total}});
  }
  return list;
}

[[nodiscard]] json names_json(const std::vector<run::named_memory>& rows) {
  auto list = json::array();
  for (const auto& row : rows) {
    list.push_back({{"name", row.name},
                    {"category", name_of(row.what)},
                    {"bytes", row.bytes},
                    {"blocks", row.blocks}});
  }
  return list;
}

[[nodiscard]] json block_json(const run::memory_view& view, const run::block_row& block) {
  const bool in_module = block.module != 0 && block.module < view.modules.size();
  return {{"address", block.address},
          {"bytes", block.bytes},
          {"born_event", block.born},
          {"category", name_of(block.what)},
          {"evidence", name_of(block.how)},
          {"rule", block.rule.empty() ? json(nullptr) : json(block.rule)},
          {"name", text_or_null(block.name)},
          {"detail", text_or_null(block.detail)},
          {"module", in_module ? json(view.modules[block.module].path) : json(nullptr)},
          {"root", in_module ? json(view.modules[block.module].root) : json(nullptr)},
          {"phase", name_of(block.born_in)},
          {"call_site", block.call_site}};
}

[[nodiscard]] json step_json(const attribution::step_peaks& step) {
  auto phases = json::object();
  for (std::size_t i = 0; i < attribution::phase_count; ++i) {
    const auto which = static_cast<attribution::phase>(i);
    if (step.peak_in[which] == 0) continue;
    phases[std::string(name_of(which))] = step.peak_in[which];
  }
  return {{"end_event", step.end_event},       {"end_ns", step.end_ns},
          {"end_allocated_bytes", step.left},  {"peak_event", step.peak_event},
          {"peak_allocated_bytes", step.peak}, {"phase_peaks", phases}};
}

}  // namespace

json sites_json(const std::vector<run::call_site>& sites) {
  auto list = json::array();
  for (const auto& site : sites) {
    list.push_back({{"frames", frames_json(site.frames)},
                    {"thread", text_or_null(site.thread)},
                    {"forward_frames", frames_json(site.forward)},
                    {"node", text_or_null(site.node)},
                    {"fused_with", frames_json(site.fused_with)},
                    {"category", name_of(site.what)},
                    {"evidence", name_of(site.how)},
                    {"bytes", site.bytes},
                    {"blocks", site.blocks},
                    {"recomputed_bytes", site.recomputed},
                    {"attention_scores_bytes", site.attention_scores},
                    {"sites", site.sites}});
  }
  return list;
}

json memory_json(const run::memory_view& view, bool with_blocks) {
  json made = {{"event", view.event},
               {"time_ns", view.time_ns},
               {"allocated_bytes", view.total},
               {"phase", name_of(view.during)},
               {"step", view.step ? json(*view.step) : json(nullptr)},
               {"categories", categories_json(view.categories)},
               {"call_sites", sites_json(view.sites)},
               {"unattributed_bytes", view.unrecorded},
               {"modules", modules_json(view.modules)},
               {"names", names_json(view.named)}};
  if (!with_blocks) return made;
  auto& list = made["blocks"] = json::array();
  for (const auto& block : view.blocks) list.push_back(block_json(view, block));
  return made;
}

json parameters_json(const std::vector<attribution::parameter_row>& rows) {
  auto list = json::array();
  for (const auto& row : rows) {
    list.push_back({{"root", row.root},
                    {"name", row.name},
                    {"sharing", row.sharing},
                    {"dtype", text_or_null(row.dtype)},
                    {"trainable", row.trainable},
                    {"weights_bytes", row.weights},
                    {"gradients_bytes", row.gradients},
                    {"optimizer_states_bytes", row.optimizer_states}});
  }
  return list;
}

json phases_json(const run::device_report& device) {
  auto list = json::array();
  for (const auto& one : device.phases) {
    list.push_back({{"phase", name_of(one.which)},
                    {"source", "derived"},
                    {"times", nullptr},
                    {"peak_allocated_bytes", one.at_peak.total},
                    {"peak_event", one.at_peak.event},
                    {"allocated_bytes", one.allocated},
                    {"freed_bytes", one.freed},
                    {"categories", categories_json(one.at_peak.categories)}});
  }
  for (const auto& [name, found] : device.named_phases) {
    list.push_back({{"phase", name},
                    {"source", found.nvtx ? "nvtx" : "user"},
                    {"times", found.begun},
                    {"peak_allocated_bytes", found.peak},
                    {"peak_event", found.peak_event},
                    {"allocated_bytes", found.allocated},
                    {"freed_bytes", found.freed},
                    {"categories", json::array()}});
  }
  return list;
}

json fp32_json(const std::vector<run::fp32_place>& places) {
  auto list = json::array();
  for (const auto& place : places) {
    list.push_back({{"frames", frames_json(place.frames)},
                    {"thread", text_or_null(place.thread)},
                    {"module", text_or_null(place.module)},
                    {"bytes", place.bytes}});
  }
  return list;
}

json steps_json(const run::run_report& processes) {
  json made = {{"count", 0},
               {"boundary", nullptr},
               {"confidence", nullptr},
               {"begins_at", json::array()},
               {"series", json::array()}};
  std::uint64_t most = 0;
  for (const auto& process : processes) {
    for (const auto& device : process.devices) {
      const auto& found = device.steps;
      if (found.boundary == attribution::step_boundary::none) continue;
      auto steps = json::array();
      for (const auto& step : found.steps) {
        if (steps.size() == most_steps) break;
        steps.push_back(step_json(step));
      }
      made["series"].push_back(
          {{"pid", process.run.pid}, {"device", device.facts.device}, {"steps", steps}});
      if (found.count <= most) continue;
      most = found.count;
      made["count"] = found.count;
      made["boundary"] = name_of(found.boundary);
      const bool inferred =
          found.boundary == attribution::step_boundary::inferred && process.inferred_steps;
      made["confidence"] = inferred ? json(process.inferred_steps->confidence) : json(nullptr);
      made["begins_at"] = inferred ? frames_json(process.inferred_steps->begins_at) : json::array();
    }
  }
  return made;
}

json training_json(const run::training_report& training) {
  auto checkpointed = json::array();
  for (const auto& module : training.checkpointed) {
    checkpointed.push_back({{"root", module.root}, {"path", module.path}, {"type", module.type}});
  }
  return {{"autocast", training.autocast},
          {"checkpointed_modules", checkpointed},
          {"parameters", training.parameters},
          {"parameter_bytes", training.parameter_bytes},
          {"trainable_bytes", training.trainable_bytes}};
}

json counters_json(const std::vector<run::program_counter>& counters) {
  auto list = json::array();
  for (const auto& counter : counters) {
    list.push_back({{"name", counter.name},
                    {"times", counter.times},
                    {"last", counter.last},
                    {"least", counter.least},
                    {"most", counter.most}});
  }
  return list;
}

json expected_json(const run::process_report& process, const run::device_report& device) {
  auto terms = json::array();
  const auto peak = device.peak_allocated.totals.allocated;
  for (const auto& term : run::expected_terms(process, device)) {
    terms.push_back(
        {{"term", term.id},
         {"expected_bytes", term.expected ? json(*term.expected) : json(nullptr)},
         {"measured_bytes", term.measured},
         {"off", estimate::is_off(term, peak)},
         {"formula", text_or_null(term.formula)},
         {"source", term.expected ? json(estimate::citation(term.from)) : json(nullptr)},
         {"note", text_or_null(term.note)}});
  }
  return terms;
}

json room_json(const run::process_report& process, const run::device_report& device) {
  const auto room = run::room_of(process, device);
  if (!room) return nullptr;
  return {{"used_bytes", room->used + room->others},
          {"used_share",
           static_cast<double>(room->used + room->others) / static_cast<double>(room->capacity)},
          {"batch_factor", room->batch_factor ? json(*room->batch_factor) : json(nullptr)}};
}

}  // namespace memtrace::as_json
