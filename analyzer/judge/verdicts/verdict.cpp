// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyzer/base/text/units.h"

namespace memtrace::verdicts {

namespace {

using growth::shape;

[[nodiscard]] std::string who(const subject& about) {
  switch (about.kind) {
    case subject_kind::device:
      return fmt::format("GPU {}", about.device);
    case subject_kind::reserved:
      return fmt::format("reserved memory of GPU {}", about.device);
    case subject_kind::outside:
      return fmt::format("memory of GPU {} outside of PyTorch's pool", about.device);
    case subject_kind::category:
      return fmt::format("category {}", about.name);
    case subject_kind::phase:
      return fmt::format("phase {}", about.name);
    case subject_kind::site:
      return fmt::format("call site {}", about.name);
    case subject_kind::host:
      return about.name.empty() ? "host memory" : fmt::format("host memory ({})", about.name);
  }
  return {};
}

[[nodiscard]] std::string growing(const verdict& given) {
  const auto rate =
      text::format_bytes(static_cast<std::uint64_t>(std::llround(given.bytes_per_step)));
  const char* const average = given.found.shape == shape::stepwise ? ", on average" : "";
  auto text = fmt::format("{} {}{} {} a {}", who(given.about), words_of(given.found.shape), average,
                          rate, given.unit);
  if (given.found.negligible) text += ", which is negligible";
  if (given.has_been_full) text += ", until memory ran out";
  if (given.steps_to_oom) {
    text += fmt::format(": out of memory in about {} {}s", text::format_count(*given.steps_to_oom),
                        given.unit);
  }
  return text;
}

[[nodiscard]] std::string undecided(const verdict& given) {
  if (given.may_be_loading) {
    return fmt::format(
        "{} grew by {} a {}: the program marks no steps, so these may be its loading",
        who(given.about), text::format_bytes(static_cast<std::uint64_t>(given.bytes_per_step)),
        given.unit);
  }
  const auto steps = given.found.evidence.steps;
  if (steps == 0) {
    return fmt::format("{}: no steps were found, so whether it grows cannot be told",
                       who(given.about));
  }
  return fmt::format("{}: {} {}s are too few to tell whether it grows; about {} more would do",
                     who(given.about), text::format_count(steps), given.unit,
                     text::format_count(given.found.more_steps_needed));
}

}  // namespace

std::string name_of(const subject& about) {
  switch (about.kind) {
    case subject_kind::device:
      return fmt::format("device:{}", about.device);
    case subject_kind::reserved:
      return fmt::format("reserved:{}", about.device);
    case subject_kind::outside:
      return about.name.empty() ? fmt::format("outside:{}", about.device)
                                : fmt::format("outside:{}:{}", about.device, about.name);
    case subject_kind::category:
      return "category:" + about.name;
    case subject_kind::phase:
      return "phase:" + about.name;
    case subject_kind::site:
      return "site:" + about.name;
    case subject_kind::host:
      return about.name.empty() ? "host" : "host:" + about.name;
  }
  return {};
}

std::string summary_of(const verdict& given) {
  switch (given.found.shape) {
    case shape::unknown:
      return undecided(given);
    case shape::accumulating:
    case shape::stepwise:
    case shape::sawtooth_leak:
      return growing(given);
    case shape::sawtooth:
    case shape::bounded_records:
    case shape::warmup_plateau:
      return fmt::format("{} {}", who(given.about), words_of(given.found.shape));
    case shape::steady:
      return fmt::format("{} {} over {} {}s", who(given.about), words_of(given.found.shape),
                         text::format_count(given.found.evidence.steps), given.unit);
  }
  return {};
}

std::string_view name_of(answer which) {
  switch (which) {
    case answer::accumulates:
      return "accumulates";
    case answer::bounded:
      return "bounded";
    case answer::not_settled:
      return "not_settled";
    case answer::steady:
      return "steady";
  }
  return "steady";
}

const suspect* first_open(const verdict& about) {
  const auto is_open = [](const suspect& one) { return one.fills && !one.fills->settled; };
  const auto found = std::ranges::find_if(about.suspects, is_open);
  if (found != about.suspects.end()) return &*found;
  return about.suspects.empty() ? nullptr : &about.suspects.front();
}

answer answer_of(const verdict& about) {
  if (about.bound) return answer::bounded;
  if (growth::is_leak(about.found.shape)) return answer::accumulates;
  return about.found.shape == growth::shape::unknown ? answer::not_settled : answer::steady;
}

bool is_leak(const verdict& about) {
  return answer_of(about) == answer::accumulates && !about.found.negligible && !is_expected(about);
}

const verdict* of_device(const findings& found, std::uint32_t device) {
  const auto one = std::ranges::find_if(found.verdicts, [&](const verdict& about) {
    return about.about.kind == subject_kind::device && about.about.device == device;
  });
  return one == found.verdicts.end() ? nullptr : &*one;
}

void summarize(findings& found) {
  for (auto& one : found.verdicts) {
    if (one.summary.empty()) one.summary = summary_of(one);
  }
}

}  // namespace memtrace::verdicts
