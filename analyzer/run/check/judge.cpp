// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/findings.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/run/check/sizes.h"

namespace memtrace::check {

namespace {

[[nodiscard]] bool uses_a_device(const run::process_report& process) {
  return std::ranges::any_of(process.devices, is_used);
}

[[nodiscard]] std::string process_name(const run::process_report& process) {
  return process.run.rank ? fmt::format("rank {}", *process.run.rank)
                          : fmt::format("pid {}", process.run.pid);
}

using verdicts::subject_kind;

[[nodiscard]] std::string too_few(const verdicts::verdict& verdict) {
  const auto seen = verdict.found.evidence.steps;
  const auto more = verdict.found.more_steps_needed;
  if (more == 0) return fmt::format("{} {}s do not tell", seen, verdict.unit);
  return fmt::format(
      "{} {}{} are too few to tell; at least {} are needed, so let it run for {} more", seen,
      verdict.unit, seen == 1 ? "" : "s", seen + more, more);
}

// Devices that are used, and the host where there is a verdict on it, whatever it is; the rest
// (reserved memory, phases, what is outside of PyTorch's pool) where it grows. Call sites and
// categories are in the verdict on their device.
[[nodiscard]] bool is_checked_for_leaks(const run::process_report& process,
                                        const verdicts::verdict& verdict) {
  switch (verdict.about.kind) {
    case subject_kind::site:
    case subject_kind::category:
      return false;
    case subject_kind::device:
      return std::ranges::any_of(process.devices, [&](const run::device_report& device) {
        return device.facts.device == verdict.about.device && is_used(device);
      });
    case subject_kind::host:
      return verdicts::answer_of(verdict) != verdicts::answer::not_settled;
    case subject_kind::reserved:
    case subject_kind::outside:
    case subject_kind::phase:
      break;
  }
  return verdicts::is_leak(verdict) || verdicts::is_expected(verdict);
}

// device 0
[[nodiscard]] std::string words_of(const verdicts::verdict& verdict) {
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
  return about.name.empty() ? "host" : verdicts::name_of(about);
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
  if (verdicts::answer_of(verdict) == verdicts::answer::not_settled &&
      !verdicts::is_expected(verdict)) {
    if (verdicts::is_in_doubt(verdict)) {
      to.line = leaking_line(process, verdict);
    } else {
      to.sentence = too_few(verdict);
    }
  } else if (verdicts::is_leak(verdict)) {
    to.result = in_doubt ? outcome::unknown : outcome::broken;
    to.line = leaking_line(process, verdict);
  } else {
    to.result = in_doubt || facts.truncated ? outcome::unknown : outcome::ok;
  }
  if (!missing.empty()) to.sentence += fmt::format("; {}", missing);
}

class run_judge {
 public:
  run_judge(const run::run_report& processes, const limits& wanted)
      : processes_(processes), wanted_(wanted) {
    several_ = std::ranges::count_if(processes, uses_a_device) > 1;
  }

  [[nodiscard]] std::vector<finding> findings() {
    for (const auto& process : processes_) {
      for (const auto& device : process.devices) {
        if (is_used(device)) look_at(process, device);
      }
      if (!uses_a_device(process)) tell_if_cut_off(process);
      if (wanted_.no_leaks && uses_a_device(process)) look_for_leaks(process);
    }
    const bool only_traces =
        std::ranges::all_of(found_, [](const finding& one) { return one.check == "trace"; });
    if (only_traces) found_.clear();
    return std::move(found_);
  }

 private:
  finding& add(std::string check, const run::process_report& process, std::string subject,
               const std::string& who) {
    auto& one = found_.emplace_back();
    one.check = std::move(check);
    one.subject = std::move(subject);
    one.who = several_ ? process_name(process) + " " + who : who;
    one.process = &process;
    return one;
  }

  void look_at(const run::process_report& process, const run::device_report& device) {
    const auto index = device.facts.device;
    const auto begin = [&](const char* check) -> finding& {
      return add(check, process, fmt::format("device:{}", index), fmt::format("device {}", index));
    };
    if (wanted_.max_peak) {
      hold_against(allocated_of(process, device), *wanted_.max_peak, begin("max-peak"));
    }
    if (wanted_.max_reserved) {
      hold_against(reserved_of(process, device), *wanted_.max_reserved, begin("max-reserved"));
    }
    if (wanted_.against == nullptr) return;
    const auto before = find_baseline(*wanted_.against, processes_, process, device);
    compare(before, allocated_of, process, device, wanted_.tolerance, begin("against-peak"));
    compare(before, reserved_of, process, device, wanted_.tolerance, begin("against-reserved"));
  }

  void look_for_leaks(const run::process_report& process) {
    for (const auto& verdict : process.findings.verdicts) {
      if (!is_checked_for_leaks(process, verdict)) continue;
      judge_verdict(process, verdict,
                    add("no-leaks", process, verdicts::name_of(verdict.about), words_of(verdict)));
    }
  }

  // The programs that a program starts, and that use no device, have traces, too.
  void tell_if_cut_off(const run::process_report& process) {
    const auto& facts = process.completeness;
    if (!facts.damage && !facts.truncated) return;
    auto& one = add("trace", process, process.path, process.path);
    one.sentence = what_is_missing(process) + ", and what is left has no device in it";
  }

  const run::run_report& processes_;
  const limits& wanted_;
  std::vector<finding> found_;
  bool several_ = false;
};

}  // namespace

bool is_used(const run::device_report& device) {
  return device.peak_allocated.totals.allocated != 0 || device.peak_reserved.totals.reserved != 0;
}

std::string what_is_missing(const run::process_report& process) {
  const auto& facts = process.completeness;
  if (facts.damage) return "the trace is damaged";
  if (facts.truncated) return "the trace is cut off";
  if (facts.dropped_events != 0) {
    return fmt::format("{} event{} not recorded", facts.dropped_events,
                       facts.dropped_events == 1 ? " was" : "s were");
  }
  if (!facts.clean_exit) return "the program was killed, or is still running";
  return {};
}

std::vector<finding> judge(const run::run_report& processes, const limits& wanted) {
  return run_judge(processes, wanted).findings();
}

}  // namespace memtrace::check
