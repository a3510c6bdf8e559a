// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/show.h"

#include <algorithm>

#include "analyzer/plan/fit/length_law.h"
#include "analyzer/plan/fit/trial.h"
#include "analyzer/show/json/values.h"

namespace memtrace::fit {

namespace {

using as_json::json;

[[nodiscard]] json probe_json(const probe& ran) {
  const auto* const device = ran.fullest();
  return {{"batch", ran.of.batch},
          {"fits", ran.came == verdict::fits},
          {"steps", ran.steps},
          {"stopped_when_settled", ran.stopped_early},
          {"rose_in_last_step", ran.rose_in_last_step},
          {"reads_of_zeros", ran.reads_of_zeros},
          {"caught_out_of_memory", ran.caught},
          {"seconds", ran.seconds},
          {"peak_allocated_bytes", device == nullptr ? json() : json(device->peak_allocated)},
          {"peak_reserved_bytes", device == nullptr ? json() : json(device->peak_reserved)},
          {"used_bytes", device == nullptr ? json() : json(device->used)},
          {"retries", device == nullptr ? json() : json(device->retries)},
          {"requested_bytes", ran.refused ? json(ran.refused->requested) : json()},
          {"device_free_bytes", ran.refused ? json(ran.refused->device_free) : json()}};
}

[[nodiscard]] json binding_json(const binding& bound) {
  auto held = json::array();
  for (const auto& one : bound.held) held.push_back({{"category", one.name}, {"bytes", one.bytes}});
  return {{"phase", as_json::text_or_null(bound.phase)},
          {"place", bound.place},
          {"requested_bytes", bound.requested},
          {"device_free_bytes", bound.device_free},
          {"reserved_unused_bytes", bound.unused},
          {"largest_free_block_bytes", bound.largest_free},
          {"fragmented", bound.fragmented},
          {"held", held},
          {"sentence", sentence_of(bound)}};
}

[[nodiscard]] json ways_json(const std::vector<way>& ways) {
  auto list = json::array();
  for (const auto& one : ways) {
    list.push_back({{"id", one.id},
                    {"title", one.title},
                    {"change", one.change},
                    {"cost", one.cost},
                    {"proof", one.how},
                    {"saves_bytes", one.saves_bytes},
                    {"changes_program", one.changes_program},
                    {"changes_results", one.changes_results}});
  }
  return list;
}

[[nodiscard]] json host_json(const boundary& of) {
  const auto found = host_side_of(of.hosts);
  if (!found) return nullptr;
  return {{"constant_bytes", found->constant},
          {"bytes_per_item", found->per_item},
          {"dry_runs", found->points},
          {"measured_bytes", found->most.together},
          {"workers", found->most.workers},
          {"workers_looked_at", found->most.looked_at},
          {"worker_peak_bytes", found->most.worker_peak},
          {"pinned_bytes", found->most.pinned},
          {"limit_bytes", found->most.limit == 0 ? json() : json(found->most.limit)},
          {"sentence", sentence_of(*found, of.largest)}};
}

[[nodiscard]] json row_json(const wishes& wanted, const row& one) {
  const auto& found = one.found;
  const auto* const device = found.fitted ? found.fitted->fullest() : nullptr;
  json made = {{"gpu", one.gpu.label},
               {"model", one.gpu.model},
               {"sequence", as_json::or_null(one.sequence)},
               {"largest_batch", found.largest},
               {"refused_batch", as_json::or_null(found.refused)},
               {"verified", found.verified},
               {"all_fit", found.all_fit},
               {"peak_allocated_bytes", device == nullptr ? json() : json(device->peak_allocated)},
               {"peak_reserved_bytes", device == nullptr ? json() : json(device->peak_reserved)},
               {"used_bytes", device == nullptr ? json() : json(device->used)},
               {"capacity_bytes", one.gpu.total_bytes},
               {"runs", found.runs},
               {"seconds", one.seconds},
               {"predicted_batch", as_json::or_null(found.predicted)},
               {"law",
                {{"kind", name_of(one.kind)},
                 {"allocated_constant_bytes", one.line ? json(one.line->constant) : json()},
                 {"allocated_bytes_per_item", one.line ? json(one.line->per_item) : json()}}},
               {"margin_batch", as_json::or_null(one.with_margin)},
               {"binding", one.why.bound ? binding_json(*one.why.bound) : json()},
               {"host", host_json(found)},
               {"remedies", ways_json(one.why.ways)},
               {"tried", found.tried},
               {"caution", as_json::text_or_null(found.fitted ? caution_of(*found.fitted) : "")},
               {"why_not_verified", as_json::text_or_null(found.why)},
               {"fitted", found.fitted ? probe_json(*found.fitted) : json()},
               {"ran_out", found.ran_out ? probe_json(*found.ran_out) : json()}};
  for (const auto& other : one.others) {
    made[name_of(other.what)] = {{"largest_batch", other.found.largest},
                                 {"refused_batch", as_json::or_null(other.found.refused)},
                                 {"verified", other.found.verified},
                                 {"all_fit", other.found.all_fit},
                                 {"runs", other.found.runs},
                                 {"why_not_verified", as_json::text_or_null(other.found.why)}};
  }
  if (!wanted.axes.empty()) made["variant"] = flags_of(wanted.axes, wanted.variants[one.variant]);
  return made;
}

[[nodiscard]] json length_law_json(const length_law& law) {
  return {{"of", law.name},
          {"lengths", law.lengths},
          {"constant_bytes", law.constant},
          {"bytes_per_item", law.item},
          {"bytes_per_token", law.token},
          {"bytes_per_token_squared", law.token_squared},
          {"largest_error", law.error},
          {"checked", law.checked}};
}

}  // namespace

nlohmann::ordered_json flags_of(const std::vector<std::string>& axes, const variant& chosen) {
  auto flags = json::object();
  for (std::size_t i = 0; i < axes.size(); ++i) flags[axes[i]] = chosen.names[i];
  return flags;
}

nlohmann::ordered_json to_json(const wishes& wanted, const plan& made, std::uint64_t dry_runs) {
  auto rows = json::array();
  for (const auto& one : made.rows) rows.push_back(row_json(wanted, one));
  auto laws = json::array();
  for (const auto& law : length_laws(wanted, made)) laws.push_back(length_law_json(law));
  return {{"schema", "memtrace-fit/1"},
          {"command", wanted.command},
          {"rows", rows},
          {"length_laws", laws},
          {"margin_bytes", wanted.margin_bytes},
          {"runs", made.runs},
          {"dry_runs", dry_runs},
          {"seconds", made.seconds}};
}

}  // namespace memtrace::fit
