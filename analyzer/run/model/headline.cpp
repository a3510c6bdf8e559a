// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/headline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/run/model/causes.h"
#include "analyzer/run/model/expected.h"
#include "analyzer/run/model/headline_words.h"
#include "analyzer/run/model/refusals.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

using text::brief_bytes;
using text::format_count;
using verdicts::subject_kind;

[[nodiscard]] std::string rounded(double bytes) {
  return brief_bytes(static_cast<std::uint64_t>(std::llround(std::max(bytes, 0.0))));
}

[[nodiscard]] std::string rate_of(const verdicts::verdict& about) {
  return fmt::format("{} a {}", rounded(about.bytes_per_step), unit_of(about));
}

// Where it is not the device's allocated memory from step to step.
[[nodiscard]] std::string of_what(const verdicts::subject& about) {
  switch (about.kind) {
    case subject_kind::reserved:
      return " of what is reserved";
    case subject_kind::outside:
      return " outside of PyTorch";
    case subject_kind::phase:
      return " within each " + about.name;
    case subject_kind::host:
      return about.name.empty() ? " of host memory"
                                : fmt::format(" of host memory ({})", about.name);
    default:
      return {};
  }
}

// "`history`"; empty: not known, or no name leads to it.
[[nodiscard]] std::string retainer_name(const verdicts::suspect& who) {
  if (who.retained_by.empty()) return {};
  const auto& first = who.retained_by.front();
  if ((first.flags & format::held_unreachable) != 0) return "nothing that has a name";
  return verdicts::name_of(first);
}

// "1.3 MiB a step at train.py:18", "kept by `history`"
[[nodiscard]] std::vector<std::string> growth_parts(const frames_of_t& frames_of,
                                                    const verdicts::verdict& about) {
  auto rate = rate_of(about) + of_what(about.about);
  const auto* const who = largest_suspect(about);
  if (who == nullptr) return {rate};
  rate += at_line(frames_of(who->stack), frames_of(who->forward));
  const auto retainer = retainer_name(*who);
  if (retainer.empty()) return {rate};
  return {rate, "kept by " + retainer};
}

[[nodiscard]] std::optional<std::string> until_full(const verdicts::verdict& about, bool was_full) {
  if (was_full) return "memory ran out, and the program went on";
  if (!about.steps_to_oom) return std::nullopt;
  const auto steps = fmt::format("in about {} {}{}", format_count(*about.steps_to_oom),
                                 unit_of(about), *about.steps_to_oom == 1 ? "" : "s");
  if (!about.limit) return "out of memory " + steps;
  return fmt::format("{} of {} is reached {}", about.limit->name, brief_bytes(about.limit->bytes),
                     steps);
}

// Of a pool that grows: that the program does not, and the setting that was replayed.
void add_pool_words(const process_report& process, std::vector<std::string>& parts) {
  parts.emplace_back("what is allocated does not grow");
  const auto cure = std::ranges::find_if(process.changes, [](const change& one) {
    return one.how == advice::proof::replayed && !setting_of(one).empty();
  });
  if (cure != process.changes.end()) parts.push_back(fix_words(*cure));
}

// "KV cache: 1.13 MiB a token, 2.3 GiB at the model's 2,048 positions"
[[nodiscard]] std::string cache_part(const verdicts::verdict& about) {
  const auto positions = about.bound->value;
  const auto a_token =
      about.suspects.empty() ? about.bytes_per_step : about.suspects.front().bytes_per_step;
  return fmt::format("KV cache: {} a token, {} at the model's {} positions", rounded(a_token),
                     rounded(a_token * static_cast<double>(positions)), format_count(positions));
}

// "`scores` gathers 640 MiB in a loop of 40 steps"
[[nodiscard]] std::string collected_part(const verdicts::verdict& about,
                                         const verdicts::suspect& who) {
  const auto steps = about.found.evidence.steps + 1;  // the last one has no end
  const auto kept = retainer_name(who);
  return fmt::format("{} gathers {} in a loop of {} {}s", kept.empty() ? "the program" : kept,
                     rounded(who.bytes_per_step * static_cast<double>(steps)), format_count(steps),
                     about.unit);
}

// What fills and empties, beside all that is there: less than a hundredth is noise in one line.
[[nodiscard]] bool is_worth_a_word(const verdicts::verdict& about) {
  const auto& series = about.series.bytes;
  const auto most = series.empty() ? 0 : *std::ranges::max_element(series);
  return 100 * about.found.evidence.tooth_bytes >= static_cast<double>(most);
}

// The growth of a device that is no leak.
[[nodiscard]] std::string calm_part(const verdicts::verdict& about) {
  const auto& found = about.found;
  const auto steps = found.evidence.steps;
  const auto over =
      fmt::format("over {} {}{}", format_count(steps), about.unit, steps == 1 ? "" : "s");
  if (verdicts::is_expected(about)) return fmt::format("grows by {}, as expected", rate_of(about));
  if (found.negligible) return fmt::format("grows by {}, which is negligible", rate_of(about));
  const auto* const named = verdicts::first_open(about);
  const auto kept = named == nullptr ? std::string() : retainer_name(*named);
  switch (verdicts::answer_of(about)) {
    case verdicts::answer::bounded:
      if (about.bound && about.bound->kind == program::bound_kind::positions)
        return cache_part(about);
      if (about.bound && about.bound->kind == program::bound_kind::loop && named != nullptr)
        return collected_part(about, *named);
      return kept.empty() ? "grows up to a bound" : kept + " grows up to a bound";
    case verdicts::answer::not_settled:
      if (steps == 0) return "no steps were found";
      if (about.needs_more != 0)
        return fmt::format("nearly every {} needs {} more than the last", about.unit,
                           rounded(about.needs_more));
      if (about.doubt) {
        if (about.doubt->kind == program::doubt_kind::captures) return "grows with each CUDA graph";
        return fmt::format("{}{}grows, and may have an end", kept, kept.empty() ? "" : " ");
      }
      return fmt::format("{} {}{} too few to tell whether it grows", format_count(steps),
                         about.unit, steps == 1 ? " is" : "s are");
    default:
      break;
  }
  using growth::shape;
  if (found.shape == shape::sawtooth && is_worth_a_word(about)) {
    const auto by = kept.empty() ? std::string() : ", kept by " + kept;
    return growth::fill_words(found.evidence, about.unit) + by;
  }
  if (found.shape == shape::bounded_records) return "rises more and more rarely " + over;
  if (found.shape == shape::warmup_plateau) return "steady after a start " + over;
  return "steady " + over;
}

[[nodiscard]] bool is_open(const verdicts::verdict& about) {
  return about.found.evidence.steps != 0 &&
         verdicts::answer_of(about) == verdicts::answer::not_settled;
}

// What an evaluation gathers that is over: worth a word where it is much. Empty: nothing is.
[[nodiscard]] std::string episode_part(const process_report& process, std::uint32_t device) {
  for (const auto& one : process.findings.verdicts) {
    const bool is_it = one.about.kind == subject_kind::phase && one.about.device == device &&
                       one.bound && one.bound->kind == program::bound_kind::episode;
    if (!is_it || one.found.negligible) continue;
    const auto length = one.bound->value;
    return fmt::format("{} gathers {} in {} {}s", one.about.name,
                       rounded(one.bytes_per_step * static_cast<double>(length)),
                       format_count(length), one.unit);
  }
  return {};
}

// A share of the GPU's size; 0 where that is not known.
[[nodiscard]] double fullness(const process_report& process, const device_report& device) {
  const auto room = room_of(process, device);
  if (!room) return 0;
  return static_cast<double>(room->used + room->others) / static_cast<double>(room->capacity);
}

[[nodiscard]] const device_report& fullest(const process_report& process) {
  return *std::ranges::max_element(process.devices, {}, [&](const device_report& one) {
    return std::pair(fullness(process, one), one.peak_allocated.totals.allocated);
  });
}

[[nodiscard]] headline calm(const process_report& process) {
  const auto& device = fullest(process);
  headline made{standing::fits, {use_of(process, device)}, device.facts.device};
  const bool cut_off = !process.run.snapshot && !process.completeness.clean_exit;
  bool open = cut_off;
  if (const auto& unknown = process.run.unknown_sizes; !unknown.empty()) {
    open = true;
    made.parts.front().insert(0, "at least ");
    made.parts.push_back(
        fmt::format("what {} selects is not known in a dry run", code::places_of(unknown)));
  }
  const auto* const about = verdicts::of_device(process.findings, device.facts.device);
  const bool is_known = about != nullptr && about->found.evidence.steps != 0 &&
                        verdicts::answer_of(*about) != verdicts::answer::not_settled;
  const auto kept = is_known ? std::string() : kept_by_calls(device);
  if (!kept.empty()) {
    open = true;
    made.parts.push_back(kept);
  } else if (about != nullptr && about->may_be_loading) {
    made.parts.push_back(device.never_freed.empty() ? std::string("all was freed in the end")
                                                    : "grew by " + rate_of(*about));
    open = open || !device.never_freed.empty();
  } else if (about != nullptr) {
    made.parts.push_back(calm_part(*about));
    open = open || is_open(*about);
  }
  if (const auto gathers = episode_part(process, device.facts.device); !gathers.empty())
    made.parts.push_back(gathers);
  std::uint64_t caught = 0;
  bool ended_well = true;
  for (const auto& one : process.ooms) {
    caught += one.facts.caught ? 1 : 0;
    ended_well = ended_well && one.facts.ended_well;
  }
  if (caught != 0) {
    made.parts.push_back(fmt::format("{} request{} failed, and the program {}",
                                     format_count(caught), caught == 1 ? "" : "s",
                                     ended_well ? "ended with exit status 0" : "went on"));
  }
  if (cut_off) made.parts.emplace_back("killed, or still running");
  if (const auto status = process.run.exit_status.value_or(0); status != 0 && caught == 0) {
    open = true;
    made.parts.push_back(fmt::format("ended with exit status {}", status));
  }
  if (open) made.what = standing::fits_so_far;
  return made;
}

}  // namespace

const verdicts::verdict* first_told(const process_report& process,
                                    std::optional<std::uint32_t> device) {
  for (const auto& one : process.findings.verdicts) {
    const bool is_of_it =
        !device || (one.about.kind != subject_kind::host && one.about.device == *device);
    if (is_told(one) && is_of_it) return &one;
  }
  return nullptr;
}

const verdicts::suspect* largest_suspect(const verdicts::verdict& about) {
  for (const auto& one : causes_of(about)) {
    const bool is_expected = one.largest->expected && one.largest->expected->is_all;
    if (!is_expected) return one.largest;
  }
  return nullptr;
}

std::vector<std::string> growth_parts(const process_report& process,
                                      const verdicts::verdict& about) {
  return growth_parts([&](trace::stack_id stack) { return frames_at(process, stack); }, about);
}

std::string unit_of(const verdicts::verdict& about) {
  const bool by_calls = about.about.kind == subject_kind::phase || about.unit == "call";
  return by_calls ? about.unit : "step";
}

bool is_told(const verdicts::verdict& about) {
  return verdicts::is_leak(about) && about.about.kind != subject_kind::category &&
         about.about.kind != subject_kind::site;
}

bool grows_on(const process_report& process, std::uint32_t device) {
  return first_told(process, device) != nullptr;
}

headline headline_of(const process_report& process) {
  headline made;
  const auto* const oom = decisive_oom(process);
  const auto* const growing = first_told(process, std::nullopt);
  if (oom != nullptr && !oom->facts.caught) {
    made = {standing::out_of_memory, out_of_memory_parts(process, *oom), oom->facts.device};
  } else if (process.outside_refusal) {
    made = {standing::out_of_memory, refusal_parts(*process.outside_refusal),
            process.outside_refusal->facts.device};
  } else if (growing != nullptr) {
    made = {standing::leaks, growth_parts(process, *growing), std::nullopt};
    if (growing->about.kind != subject_kind::host) made.device = growing->about.device;
    if (growing->about.kind == subject_kind::reserved) add_pool_words(process, made.parts);
    if (auto until = until_full(*growing, growing->has_been_full)) {
      made.parts.push_back(std::move(*until));
    }
  } else if (!process.devices.empty()) {
    made = calm(process);
  } else {
    made.parts.emplace_back(process.completeness.truncated
                                ? "no event is in the readable part of the trace"
                                : "nothing was allocated through PyTorch");
  }
  if (process.devices.size() > 1 && made.device)
    made.parts.insert(made.parts.begin(), fmt::format("GPU {}", *made.device));
  return made;
}

headline headline_so_far(const state_so_far& now, const frames_of_t& frames_of) {
  headline made{standing::fits_so_far, {}, now.device};
  if (now.growth != nullptr && is_told(*now.growth) && !verdicts::is_expected(*now.growth)) {
    made.what = standing::leaks;
    made.parts = growth_parts(frames_of, *now.growth);
    if (auto until = until_full(*now.growth, now.ran_out)) made.parts.push_back(std::move(*until));
    return made;
  }
  made.parts.push_back(now.capacity == 0 ? brief_bytes(now.used) + " at most"
                                         : use_words(now.used, now.capacity));
  if (now.growth != nullptr) made.parts.push_back(calm_part(*now.growth));
  if (now.ran_out) made.parts.emplace_back("memory ran out, and the program went on");
  return made;
}

const process_report& decisive_process(const run_report& run) {
  return *std::ranges::min_element(run, {}, [](const process_report& one) {
    std::uint64_t peak = 0;
    for (const auto& device : one.devices)
      peak = std::max(peak, device.peak_allocated.totals.allocated);
    const bool failed = !one.ooms.empty() || one.outside_refusal;
    return std::tuple(one.answer.what, !failed, ~peak);
  });
}

headline headline_of(const run_report& run) {
  const auto& decisive = decisive_process(run);
  auto made = decisive.answer;
  if (run.size() > 1) {
    const auto& facts = decisive.run;
    made.parts.insert(made.parts.begin(), facts.rank ? fmt::format("rank {}", *facts.rank)
                                                     : fmt::format("pid {}", facts.pid));
  }
  return made;
}

std::string_view name_of(standing which) {
  return text::enum_name(which);
}

std::string text_of(const headline& what) {
  std::string words(name_of(what.what));
  for (char& letter : words) {
    letter =
        letter == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  for (const auto& part : what.parts) words += " · " + part;
  return words;
}

}  // namespace memtrace::run
