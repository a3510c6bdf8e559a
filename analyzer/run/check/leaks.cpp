// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/leaks.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/run/check/judge.h"

namespace memtrace::check {

namespace {

using verdicts::subject_kind;

// As the report sees it: growth that matters to nobody is no leak.
[[nodiscard]] bool leaks(const verdicts::verdict& verdict) {
  return growth::is_leak(verdict.found.shape) && !verdict.found.negligible;
}

[[nodiscard]] std::string too_few(const verdicts::verdict& verdict) {
  const auto seen = verdict.found.evidence.steps;
  const auto more = verdict.found.more_steps_needed;
  if (more == 0) return fmt::format("{} {}s do not tell", seen, verdict.unit);
  return fmt::format(
      "{} {}{} are too few to tell; at least {} are needed, so let it run for {} more", seen,
      verdict.unit, seen == 1 ? "" : "s", seen + more, more);
}

}  // namespace

bool is_checked_for_leaks(const run::process_report& process, const verdicts::verdict& verdict) {
  switch (verdict.about.kind) {
    case subject_kind::site:
    case subject_kind::category:
      return false;
    case subject_kind::device:
      return std::ranges::any_of(process.devices, [&](const run::device_report& device) {
        return device.facts.device == verdict.about.device && is_used(device);
      });
    case subject_kind::host:
      return verdict.found.shape != growth::shape::unknown;
    case subject_kind::reserved:
    case subject_kind::outside:
    case subject_kind::phase:
      break;
  }
  return leaks(verdict);
}

std::string subject_of(const verdicts::verdict& verdict) {
  return verdicts::name_of(verdict.about);
}

std::string words_of(const verdicts::verdict& verdict) {
  const auto& about = verdict.about;
  switch (about.kind) {
    case subject_kind::device:
      return fmt::format("device {}", about.device);
    case subject_kind::reserved:
      return fmt::format("device {}, reserved", about.device);
    case subject_kind::outside:
      return fmt::format("device {}, outside of PyTorch's pool", about.device);
    default:
      break;
  }
  return about.name.empty() ? "host" : subject_of(verdict);
}

void judge_verdict(const run::process_report& process, const verdicts::verdict& verdict,
                   finding& to) {
  const auto missing = what_is_missing(process);
  const auto& facts = process.completeness;
  // Frees that were not recorded look like memory that stays.
  const bool in_doubt = facts.dropped_events != 0 || facts.damage.has_value();
  to.leak = &verdict;
  to.sentence = verdict.summary.empty() ? verdicts::summary_of(verdict) : verdict.summary;
  while (to.sentence.ends_with('.')) to.sentence.pop_back();
  if (verdict.found.shape == growth::shape::unknown) {
    to.sentence = too_few(verdict);
  } else if (leaks(verdict)) {
    to.result = in_doubt ? outcome::unknown : outcome::broken;
    to.line = leaking_line(process, verdict);
  } else {
    to.result = in_doubt || facts.truncated ? outcome::unknown : outcome::ok;
  }
  if (!missing.empty()) to.sentence += fmt::format("; {}", missing);
}

}  // namespace memtrace::check
