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
#include "analyzer/run/model/refusals.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

using text::brief_bytes;
using text::format_count;
using verdicts::subject_kind;

constexpr std::uint64_t least_part =
    10;  // of what was allocated when memory ran out, to be the reason

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

// What grows most, of what nobody expects.
[[nodiscard]] const verdicts::suspect* largest_suspect(const verdicts::verdict& about) {
  for (const auto& one : causes_of(about)) {
    const bool is_expected = one.largest->expected && one.largest->expected->is_all;
    if (!is_expected) return one.largest;
  }
  return nullptr;
}

// "`history`"; empty: not known, or no name leads to it.
[[nodiscard]] std::string retainer_name(const verdicts::suspect& who) {
  if (who.retained_by.empty()) return {};
  const auto& first = who.retained_by.front();
  if ((first.flags & format::held_unreachable) != 0) return "nothing that has a name";
  const auto name = verdicts::variable_of(first);
  return name.empty() ? name : fmt::format("`{}`", name);
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

[[nodiscard]] std::vector<std::string> growth_parts(const process_report& process,
                                                    const verdicts::verdict& about) {
  return growth_parts([&](trace::stack_id stack) { return frames_at(process, stack); }, about);
}

// Null: nothing that a person has to know of.
[[nodiscard]] const verdicts::verdict* first_told(const process_report& process,
                                                  std::optional<std::uint32_t> device) {
  for (const auto& one : process.findings.verdicts) {
    const bool is_of_it =
        !device || (one.about.kind != subject_kind::host && one.about.device == *device);
    if (is_told(one) && is_of_it) return &one;
  }
  return nullptr;
}

// What has grown until memory ran out, if it is a tenth of what was allocated then, and the request
// would have been met without it: what grows more slowly is not why.
[[nodiscard]] const verdicts::verdict* growth_to(const process_report& process,
                                                 const oom_report& oom) {
  const auto* const growing = first_told(process, oom.facts.device);
  if (growing == nullptr || growing->suspects.empty()) return growing;
  std::uint64_t grown = 0;
  for (const auto& one : growing->suspects) grown += one.bytes;
  const auto in_one_piece = oom.facts.has_layout ? oom.facts.free.usable : 0;
  const bool would_pass = grown + oom.facts.device_free + in_one_piece >= oom.facts.requested;
  const bool is_much = grown >= oom.facts.totals.allocated / least_part;
  return is_much && would_pass ? growing : nullptr;
}

// "kept by `pool.jobs`": the container that keeps half of what was allocated, and is no optimizer's.
[[nodiscard]] std::string retainer_of_most(const oom_report& oom) {
  if (oom.retained_by.empty()) return {};
  const auto& first = oom.retained_by.front();
  constexpr auto others = format::held_graph | format::held_has_graph | format::held_gradient |
                          format::held_unreachable;
  const bool is_most = first.bytes >= oom.facts.totals.allocated / 2;
  const auto& rows = oom.held ? oom.held->categories : std::vector<category_row>();
  const bool is_of_optimizer =
      !rows.empty() && std::ranges::max_element(rows, {}, &category_row::bytes)->what ==
                           attribution::category::optimizer_states;
  if (!is_most || is_of_optimizer || first.container.empty() || (first.flags & others) != 0)
    return {};
  const auto name = verdicts::variable_of(first);
  return name.empty() ? name : fmt::format("kept by `{}`", name);
}

// "5.7 GiB of 8.4 GiB are activations", of one line where it has most of them.
[[nodiscard]] std::string most_held(const oom_report& oom) {
  const auto* const line = oom.holders.empty() ? nullptr : &oom.holders.front();
  const auto part = [&](std::uint64_t bytes, attribution::category what) {
    const bool is_of_line = line != nullptr && line->what == what && line->bytes >= bytes / 2;
    const auto place = is_of_line ? place_of_user(line->frames, line->forward) : std::string();
    const auto share =
        fmt::format("{} of {}", brief_bytes(bytes), brief_bytes(oom.facts.totals.allocated));
    if (place.empty()) return fmt::format("{} are {}", share, words_of(what));
    if (what == attribution::category::unknown) return share + " were made at " + place;
    return fmt::format("{} are {} of {}", share, words_of(what), place);
  };
  if (oom.held && !oom.held->categories.empty()) {
    const auto& rows = oom.held->categories;
    const auto& most = *std::ranges::max_element(rows, {}, &category_row::bytes);
    if (most.what != attribution::category::unknown) return part(most.bytes, most.what);
  }
  return line == nullptr ? std::string() : part(line->bytes, line->what);
}

// What is not superseded and lets the program pass; null: nothing does.
[[nodiscard]] const change* cure_of(const process_report& process) {
  const auto found = std::ranges::find_if(process.changes, [](const change& one) {
    return one.mends_out_of_memory && !one.superseded;
  });
  return found == process.changes.end() ? nullptr : &*found;
}

// "2.25 GiB of 7.65 GiB are not used again (load.py:12)": the memory that the cure is about.
[[nodiscard]] std::string concern_of(const change& cure, const oom_report& oom) {
  const auto line = place_of_user(cure.frames, {});
  const auto place = line.empty() ? std::string() : fmt::format(" ({})", line);
  return fmt::format("{} of {} {}{}", brief_bytes(cure.about->bytes),
                     brief_bytes(oom.facts.totals.allocated), cure.about->words, place);
}

// A setting as it is set, where it fits into a line; empty: the change is none.
[[nodiscard]] std::string setting_of(const change& cure) {
  auto setting = cure.what.substr(0, cure.what.find(' '));
  const bool fits = setting.find('=') != setting.npos && setting.size() <= 80;
  return fits && setting.starts_with("PYTORCH_") ? setting : std::string();
}

// The setting that gets past this request, of which nothing says whether it does past the next; null: there
// is none.
[[nodiscard]] const change* first_help(const process_report& process) {
  const auto found = std::ranges::find_if(process.changes, [](const change& one) {
    return one.gets_past_request && !setting_of(one).empty();
  });
  return found == process.changes.end() ? nullptr : &*found;
}

[[nodiscard]] std::string in_pieces(const oom_report& oom) {
  return brief_bytes(oom.facts.totals.all_unused() + oom.facts.device_free) +
         " were unused, but in pieces";
}

// Why a request failed: what grew until then; what the cure is about; free memory in pieces that
// would have been enough; or what most of it is.
[[nodiscard]] std::vector<std::string> reason_of(const process_report& process,
                                                 const oom_report& oom) {
  if (const auto* const growing = growth_to(process, oom)) {
    auto parts = growth_parts(process, *growing);
    parts.front() = "grew by " + parts.front();
    return parts;
  }
  if (oom.fix) {
    const auto& first = oom.retained_by.front();
    const bool by_graph = oom.fix->id == "graph_of_gradients";
    return {fmt::format("`{}` keeps {} {}", verdicts::variable_of(first), brief_bytes(first.bytes),
                        by_graph ? "through graphs of gradients" : "in the frames of errors")};
  }
  const auto* const cure = cure_of(process);
  const auto* const help = first_help(process);
  const bool is_much = oom.facts.totals.all_unused() + oom.facts.device_free >=
                       oom.facts.totals.allocated / least_part;
  if (help != nullptr && is_much && was_in_pieces(process, oom))
    return {in_pieces(oom), "gets past it (checked by replay): " + setting_of(*help)};
  if (cure != nullptr && cure->about) return {concern_of(*cure, oom)};
  // Where less memory is what helps, pieces that would have been enough are not the reason.
  const bool is_setting = cure != nullptr && !setting_of(*cure).empty();
  if ((is_setting || (cure == nullptr && is_much)) && was_in_pieces(process, oom))
    return {in_pieces(oom)};
  if (cure == nullptr && oom.capacity && oom.facts.requested >= oom.facts.totals.allocated) {
    return {"it alone is " + use_words(oom.facts.requested, *oom.capacity)};
  }
  std::vector<std::string> parts;
  if (auto most = most_held(oom); !most.empty()) parts.push_back(std::move(most));
  if (auto retainer = retainer_of_most(oom); !retainer.empty())
    parts.push_back(std::move(retainer));
  return parts;
}

// Another setting or a smaller batch gets past this request, and what grows meets the next one.
[[nodiscard]] std::string cure_of_what_grew(const process_report& process, const oom_report& oom) {
  const auto* const growing = growth_to(process, oom);
  if (growing == nullptr) return oom.fix ? advice::brief_words(oom.fix->id) : std::string();
  const auto* const who = largest_suspect(*growing);
  const auto& fix = who != nullptr && who->fix ? who->fix : growing->fix;
  return fix ? advice::brief_words(fix->id) : std::string();
}

[[nodiscard]] std::string fix_words(const change& cure) {
  const bool is_replayed = cure.how == advice::proof::replayed;
  const auto how = is_replayed && (cure.is_settled || !cure.mends_out_of_memory)
                       ? "checked by replay"
                       : name_of(is_replayed ? advice::proof::estimated : cure.how);
  const auto setting = setting_of(cure);
  return fmt::format("fix ({}): {}", how, setting.empty() ? advice::brief_words(cure.id) : setting);
}

[[nodiscard]] std::vector<std::string> out_of_memory_parts(const process_report& process,
                                                           const oom_report& oom) {
  std::vector<std::string> parts{brief_bytes(oom.facts.requested) + " refused" +
                                 at_line(oom.frames, oom.forward)};
  for (auto& one : reason_of(process, oom)) parts.push_back(std::move(one));
  if (const auto words = cure_of_what_grew(process, oom); !words.empty()) {
    parts.push_back("fix: " + words);
  } else if (const auto* const cure = cure_of(process)) {
    parts.push_back(fix_words(*cure));
  }
  return parts;
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
  if (found.shape == shape::sawtooth) {
    const auto by = kept.empty() ? std::string() : ", kept by " + kept;
    return growth::fill_words(found.evidence, about.unit) + by;
  }
  if (found.shape == shape::bounded_records) return "more only for larger inputs " + over;
  if (found.shape == shape::warmup_plateau) return "steady after a start " + over;
  return "steady " + over;
}

[[nodiscard]] bool is_open(const verdicts::verdict& about) {
  return about.found.evidence.steps != 0 &&
         verdicts::answer_of(about) == verdicts::answer::not_settled;
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
