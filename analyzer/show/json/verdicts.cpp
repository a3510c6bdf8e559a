// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/parts.h"

#include <string_view>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/attribution/terms.h"

namespace memtrace::as_json {

namespace {

struct flag_name {
  std::uint32_t flag;
  const char* name;
};
constexpr flag_name held_flags[] = {
    {format::held_graph, "graph"},         {format::held_traceback, "traceback"},
    {format::held_hook, "hook"},           {format::held_bounded, "bounded"},
    {format::held_view, "view"},           {format::held_gradient, "gradient"},
    {format::held_has_graph, "has_graph"}, {format::held_unreachable, "unreachable"},
    {format::held_statement, "statement"},
};

[[nodiscard]] json retainer_json(const verdicts::retainer& by) {
  auto flags = json::array();
  for (const auto& [flag, name] : held_flags) {
    if ((by.flags & flag) != 0) flags.push_back(name);
  }
  return {{"path", by.path},
          {"bytes", by.bytes},
          {"blocks", by.blocks},
          {"container", text_or_null(by.container)},
          {"length", by.length},
          {"owner", text_or_null(by.owner)},
          {"file", text_or_null(by.file)},
          {"line", by.line},
          {"holder", text_or_null(by.holder)},
          {"also", text_or_null(by.also)},
          {"bytes_per_step", by.bytes_per_step},
          {"censuses", by.heap_scans},
          {"flags", std::move(flags)}};
}

}  // namespace

json retainers_json(const std::vector<verdicts::retainer>& all) {
  auto retained = json::array();
  for (const auto& by : all) retained.push_back(retainer_json(by));
  return retained;
}

json fix_json(const std::optional<verdicts::remedy>& fix) {
  if (!fix) return nullptr;
  return {{"id", fix->id},
          {"cause", fix->cause},
          {"change", fix->change},
          {"caution", text_or_null(fix->caution)},
          {"saves_bytes_per_step", fix->saves_bytes_per_step}};
}

namespace {

[[nodiscard]] json expected_json(const std::optional<verdicts::expected_growth>& expected) {
  if (!expected) return nullptr;
  return {{"why", text_or_null(expected->why)},         {"by", name_of(expected->by)},
          {"file", text_or_null(expected->file)},       {"line", expected->line},
          {"bytes_per_step", expected->bytes_per_step}, {"is_all", expected->is_all}};
}

[[nodiscard]] json frames_json(const run::process_report& process, trace::stack_id stack) {
  return as_json::frames_json(run::frames_at(process, stack));
}

[[nodiscard]] json suspect_json(const run::process_report& process,
                                const verdicts::suspect& suspect) {
  return {{"frames", frames_json(process, suspect.stack)},
          {"forward", frames_json(process, suspect.forward)},
          {"bytes_per_step", suspect.bytes_per_step},
          {"share", suspect.share},
          {"bytes", suspect.bytes},
          {"blocks", suspect.blocks},
          {"birth_steps", suspect.generations},
          {"category", name_of(suspect.what)},
          {"phase", name_of(suspect.born_in)},
          {"confidence", suspect.found.confidence},
          {"retained_by", retainers_json(suspect.retained_by)},
          {"expected", expected_json(suspect.expected)},
          {"fix", fix_json(suspect.fix)}};
}

[[nodiscard]] json evidence_json(const growth::test_figures& rests_on) {
  return {{"steps", rests_on.steps},
          {"warmup_steps", rests_on.warmup_steps},
          {"step_resolution", rests_on.step_resolution},
          {"points", rests_on.points},
          {"net_bytes", rests_on.net_bytes},
          {"noise_bytes", rests_on.noise_bytes},
          {"mann_kendall_z", rests_on.mann_kendall_z},
          {"autocorrelation", rests_on.autocorrelation},
          {"model", std::string(rests_on.model)},
          {"model_margin", rests_on.model_margin},
          {"late_start", rests_on.late_start},
          {"teeth", rests_on.teeth},
          {"tooth_bytes", rests_on.tooth_bytes},
          {"tooth_steps", rests_on.tooth_steps},
          {"jumps", rests_on.jumps},
          {"jump_log_odds", rests_on.jump_log_odds}};
}

[[nodiscard]] json elsewhere_json(const verdicts::verdict& verdict) {
  auto all = json::array();
  for (const auto& one : verdict.elsewhere) {
    all.push_back(
        {{"gpu", one.gpu}, {"capacity_bytes", one.capacity_bytes}, {"steps_to_oom", one.steps}});
  }
  return all;
}

[[nodiscard]] json bound_json(const verdicts::verdict& verdict) {
  if (!verdict.bound) return nullptr;
  const auto& bound = *verdict.bound;
  return {{"kind", program::name_of(bound.kind)},
          {"file", text_or_null(bound.file)},
          {"line", bound.line},
          {"expression", bound.expression},
          {"value", bound.value},
          {"reached_in_steps", or_null(verdict.steps_to_bound)}};
}

[[nodiscard]] json doubt_json(const verdicts::verdict& verdict) {
  if (!verdict.doubt) return nullptr;
  const auto& doubt = *verdict.doubt;
  return {{"kind", program::name_of(doubt.kind)},
          {"file", text_or_null(doubt.file)},
          {"line", doubt.line},
          {"expression", doubt.expression}};
}

[[nodiscard]] json verdict_json(const run::process_report& process,
                                const verdicts::verdict& verdict) {
  const auto& found = verdict.found;
  const bool known = found.shape != growth::shape::unknown;
  auto suspects = json::array();
  for (const auto& one : verdict.suspects) suspects.push_back(suspect_json(process, one));
  return {{"subject", name_of(verdict.about)},
          {"pid", process.run.pid},
          {"answer", name_of(verdicts::answer_of(verdict))},
          {"bound", bound_json(verdict)},
          {"doubt", doubt_json(verdict)},
          {"expected", expected_json(verdict.expected)},
          {"shape", name_of(found.shape)},
          {"bytes_per_step", known ? json(verdict.bytes_per_step) : json(nullptr)},
          {"bytes_per_step_low", known ? json(found.bytes_per_step_low) : json(nullptr)},
          {"bytes_per_step_high", known ? json(found.bytes_per_step_high) : json(nullptr)},
          {"steps_to_oom", or_null(verdict.steps_to_oom)},
          {"time_to_oom_ns", or_null(verdict.ns_to_oom)},
          {"elsewhere", elsewhere_json(verdict)},
          {"confidence", known ? json(found.confidence) : json(nullptr)},
          {"is_leak", verdicts::is_leak(verdict)},
          {"negligible", found.negligible},
          {"more_steps_needed", found.more_steps_needed},
          {"culprits", std::move(suspects)},
          {"fix", fix_json(verdict.fix)},
          {"summary", verdict.summary},
          {"overturned_by", text_or_null(found.overturned_by)},
          {"series",
           {{"unit", verdict.unit},
            {"first", verdict.series.first_step},
            {"stride", verdict.series.stride},
            {"bytes", verdict.series.bytes}}},
          {"evidence", evidence_json(found.evidence)}};
}

}  // namespace

json expectations_json(const run::process_report& process) {
  auto all = json::array();
  for (const auto& [said, count] : process.findings.expectations) {
    all.push_back({{"what", said.what},
                   {"why", text_or_null(said.why)},
                   {"by", name_of(said.by)},
                   {"file", text_or_null(said.file)},
                   {"line", said.line},
                   {"verdicts", count}});
  }
  return all;
}

void add_verdicts_json(const run::process_report& process, json& verdicts) {
  for (const auto& one : process.findings.verdicts) verdicts.push_back(verdict_json(process, one));
}

}  // namespace memtrace::as_json
