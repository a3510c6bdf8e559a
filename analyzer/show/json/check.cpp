// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/report.h"

#include "analyzer/run/check/text.h"
#include "analyzer/show/json/values.h"

namespace memtrace::as_json {

namespace {

[[nodiscard]] json process_json(const run::process_report* process) {
  if (process == nullptr) return nullptr;
  return {
      {"trace", process->path}, {"pid", process->run.pid}, {"rank", or_null(process->run.rank)}};
}

[[nodiscard]] json sizes_json(const std::optional<check::comparison>& sizes) {
  if (!sizes) return nullptr;
  return {{"measured_bytes", sizes->measured},
          {"limit_bytes", sizes->limit},
          {"baseline_bytes", or_null(sizes->baseline)},
          {"beyond_bytes", sizes->beyond()}};
}

[[nodiscard]] json leak_json(const verdicts::verdict* verdict) {
  if (verdict == nullptr) return nullptr;
  return {{"answer", name_of(verdicts::answer_of(*verdict))},
          {"shape", growth::name_of(verdict->found.shape)},
          {"bytes_per_step", verdict->bytes_per_step},
          {"negligible", verdict->found.negligible},
          {"expected", verdicts::is_expected(*verdict)},
          {"unit", verdict->unit},
          {"steps", verdict->found.evidence.steps},
          {"more_steps_needed", verdict->found.more_steps_needed}};
}

[[nodiscard]] json line_json(const std::optional<check::blamed_line>& line) {
  if (!line) return nullptr;
  return {{"file", line->where.file},
          {"line", line->where.line},
          {"function", line->where.function},
          {"bytes", line->bytes}};
}

[[nodiscard]] json finding_json(const check::finding& one) {
  return {{"check", one.check},
          {"subject", one.subject},
          {"process", process_json(one.process)},
          {"outcome", name_of(one.result)},
          {"message", message_of(one, {})},
          {"sizes", sizes_json(one.sizes)},
          {"growth", leak_json(one.leak)},
          {"line", line_json(one.line)}};
}

[[nodiscard]] json limits_json(const checked_run& run) {
  const auto& wanted = run.wanted;
  json made = {{"max_peak_bytes", or_null(wanted.max_peak)},
               {"max_reserved_bytes", or_null(wanted.max_reserved)},
               {"no_leaks", wanted.no_leaks},
               {"against", nullptr}};
  if (wanted.against == nullptr) return made;
  made["against"] = {{"traces", run.baseline},
                     {"tolerance_percent", wanted.tolerance.percent},
                     {"tolerance_bytes", wanted.tolerance.bytes}};
  return made;
}

}  // namespace

json to_json(const checked_run& run) {
  auto checks = json::array();
  for (const auto& one : run.findings) checks.push_back(finding_json(one));
  return {{"schema", "memtrace-check/1"}, {"outcome", name_of(check::worst(run.findings))},
          {"headline", run.headline},     {"traces", run.traces},
          {"limits", limits_json(run)},   {"checks", checks}};
}

}  // namespace memtrace::as_json
