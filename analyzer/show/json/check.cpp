// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/report.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/base/text/utf8.h"
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

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> rules = {{
    {"max-peak", "More memory was allocated on a GPU than --max-peak allows"},
    {"max-reserved", "PyTorch reserved more memory on a GPU than --max-reserved allows"},
    {"no-leaks", "Memory grows from step to step"},
    {"against-peak", "More memory was allocated than in an earlier run"},
    {"against-reserved", "PyTorch reserved more memory than in an earlier run"},
    {"trace", "A trace cannot be read"},
}};

[[nodiscard]] json sarif_rules() {
  auto made = json::array();
  for (const auto& [id, words] : rules) {
    made.push_back({{"id", id}, {"shortDescription", {{"text", words}}}});
  }
  return made;
}

[[nodiscard]] std::string as_uri(std::string_view path) {
  constexpr std::string_view kept = "-._~/";
  std::string made = path.starts_with('/') ? "file://" : "";
  for (const char c : text::valid_utf8(path)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || kept.find(c) != kept.npos;
    made += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return made;
}

// GitHub refuses a result without a place: one that no line is to blame for is at its trace.
[[nodiscard]] json sarif_place(const check::finding& one, std::string_view folder) {
  const auto path = one.process == nullptr ? one.subject : one.process->path;
  const auto file = check::below(folder, one.line ? one.line->where.file : path);
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", as_uri(file)}}},
            {"region", {{"startLine", one.line ? one.line->where.line : 1}}}}}};
}

[[nodiscard]] json sarif_result(const check::finding& one, std::string_view folder) {
  return {{"ruleId", one.check},
          {"level", one.result == check::outcome::broken ? "error" : "warning"},
          {"message", {{"text", one.who + ": " + check::message_of(one, folder)}}},
          {"locations", json::array({sarif_place(one, folder)})}};
}

}  // namespace

json to_json(const checked_run& run) {
  auto checks = json::array();
  for (const auto& one : run.findings) checks.push_back(finding_json(one));
  return {{"schema", "memtrace-check/1"}, {"outcome", name_of(check::worst(run.findings))},
          {"headline", run.headline},     {"traces", run.traces},
          {"limits", limits_json(run)},   {"checks", checks}};
}

json to_sarif(const checked_run& run, std::string_view folder) {
  auto results = json::array();
  for (const auto& one : run.findings) {
    if (one.result != check::outcome::ok) results.push_back(sarif_result(one, folder));
  }
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs",
           json::array({{{"tool", {{"driver", {{"name", "memtrace"}, {"rules", sarif_rules()}}}}},
                         {"results", results}}})}};
}

}  // namespace memtrace::as_json
