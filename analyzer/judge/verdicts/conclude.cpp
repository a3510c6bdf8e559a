// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/collector.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/base/statistics/judge.h"
#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/bounded_growth.h"
#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/suspects.h"
#include "analyzer/judge/verdicts/timeline.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "memtrace/gpu_models.h"

namespace memtrace::verdicts {

namespace {

// The parts that all verdicts of a run have in common.
struct verdict_maker {
  const replay::replayer& replayed;
  std::string unit;  // of the series: step, call, event window
  bool something_is_expected = false;

  // Bytes of a device that PyTorch's allocator can have; 0: not known.
  [[nodiscard]] std::uint64_t capacity_of(std::uint32_t device) const;
  [[nodiscard]] verdict make(subject about, growth::judgement found,
                             const thinned_series* shown) const;
  void name_suspects(verdict& made, const std::vector<suspect>& sites) const;
  // Steps and time to out-of-memory, here and elsewhere.
  void say_when(verdict& made, const device_series& whole, const step_clock& clock) const;
};

std::uint64_t verdict_maker::capacity_of(std::uint32_t index) const {
  const auto* const device = replayed.device(index);
  if (device == nullptr) return 0;
  const auto& facts = device->facts;
  const auto bytes =
      facts.free_before_first_segment != 0 ? facts.free_before_first_segment : facts.total_bytes;
  const auto from_driver = replayed.driver().on_device(index);
  const auto reserved = device->allocator.totals().reserved;
  return bytes - std::min(bytes, from_driver - std::min(from_driver, reserved));
}

verdict verdict_maker::make(subject about, growth::judgement found,
                            const thinned_series* shown) const {
  verdict made;
  if (about.kind != subject_kind::category) made.capacity_bytes = capacity_of(about.device);
  made.about = std::move(about);
  made.bytes_per_step = found.bytes_per_step;
  made.found = std::move(found);
  if (shown != nullptr) made.series = shown->shown();
  made.unit = unit;
  return made;
}

void verdict_maker::name_suspects(verdict& made, const std::vector<suspect>& sites) const {
  made.suspects = suspects_of(sites);
  if (!something_is_expected) return;
  const auto named = static_cast<std::ptrdiff_t>(made.suspects.size());
  made.unnamed.assign(sites.begin() + named, sites.end());
}

// Whichever comes first: no more bytes, or no more segments, where the blocks that stay leave free
// parts beside them that nothing fits into.
class countdown {
 public:
  countdown(double bytes_per_step, const device_series& whole)
      : bytes_per_step_(bytes_per_step),
        whole_(whole),
        segments_(growth::judge(whole.occupied.values)) {}

  [[nodiscard]] std::optional<std::uint64_t> steps(std::uint64_t capacity) const {
    const auto needed = static_cast<double>(whole_.most_above_least);
    const auto by_bytes = growth::steps_to_oom(
        bytes_per_step_, {capacity, static_cast<double>(whole_.last_least), needed});
    if (!by_bytes || !growth::is_leak(segments_.shape) ||
        segments_.bytes_per_step <= bytes_per_step_) {
      return by_bytes;
    }
    const auto by_segments = growth::steps_to_oom(
        segments_.bytes_per_step, {capacity, static_cast<double>(whole_.last_occupied), needed});
    return std::min(*by_bytes, by_segments.value_or(*by_bytes));
  }

 private:
  double bytes_per_step_;
  const device_series& whole_;
  growth::judgement segments_;
};

void verdict_maker::say_when(verdict& made, const device_series& whole,
                             const step_clock& clock) const {
  const auto capacity = capacity_of(made.about.device);
  const countdown until(made.bytes_per_step, whole);
  made.steps_to_oom = until.steps(capacity);
  if (!made.steps_to_oom) return;
  const auto step_ns = clock.ns_per_step();
  constexpr double longest = 9e18;
  if (step_ns > 0) {
    made.ns_to_oom = static_cast<std::uint64_t>(
        std::min(static_cast<double>(*made.steps_to_oom) * step_ns, longest));
  }
  const auto* const device = replayed.device(made.about.device);
  const auto total = device == nullptr ? capacity : device->facts.total_bytes;
  const auto outside = total - std::min(total, capacity);
  for (const auto& model : known_gpus) {
    const auto usable = model.total_bytes - std::min(model.total_bytes, outside);
    made.elsewhere.push_back({std::string(model.key), model.total_bytes,
                              usable == 0 ? 0 : until.steps(usable).value_or(0)});
  }
}

// No call site leaks: whatever grows is bounded by what the sites that grew most look like.
void call_it_bounded(growth::judgement& found, growth::shape largest) {
  found.shape = largest == growth::shape::steady || largest == growth::shape::unknown
                    ? growth::shape::warmup_plateau
                    : largest;
  found.bytes_per_step = found.bytes_per_step_low = found.bytes_per_step_high = 0;
  found.negligible = false;
}

// In the later half of the run it rose in nearly every step, and hardly ever fell. Larger inputs
// now and then do not do that.
[[nodiscard]] bool rises_to_the_end(const growth::series& values) {
  constexpr double nearly = 0.9;
  constexpr double hardly = 0.05;
  const auto& windows = values.windows();
  growth::window later;
  for (auto i = windows.size() / 2; i < windows.size(); ++i) {
    later.up += windows[i].up;
    later.down += windows[i].down;
    later.rises += windows[i].rises;
    later.steps += windows[i].steps;
  }
  return later.rises >= nearly * later.steps && later.down <= hardly * later.up;
}

// Nearly each step needs more than the one before, up to the last, and no call site tells why.
struct rise {
  double bytes_per_step = 0;
  std::uint64_t more_steps = 0;  // that may tell
  // What it needs at most rises, and not what it has at least: a conversation is read again from its
  // start. Else what each step makes anew gets larger, as where hooks are registered again that keep
  // one output each.
  bool is_given_back = false;
};

void call_it_open(growth::judgement& found, const rise& by) {
  found.shape = growth::shape::unknown;
  found.bytes_per_step = found.bytes_per_step_low = found.bytes_per_step_high = 0;
  found.confidence = 0;
  found.negligible = false;
  found.more_steps_needed = by.more_steps;
  found.overturned_by = growth::overturned_by(found);
}

[[nodiscard]] std::string summary_of(const rise& by, const std::string& unit) {
  const auto rises = fmt::format(
      "nearly every {} needs more than the one before, {} on average, up to the last, and ", unit,
      text::format_bytes(static_cast<std::uint64_t>(std::llround(by.bytes_per_step))));
  if (by.is_given_back) return rises + "gives it back. Whether that goes on is not settled";
  return fmt::format(
      "{}at no call site does what stays grow. Whether that goes on is not settled; about {} more "
      "{}s would tell",
      rises, text::format_count(by.more_steps), unit);
}

void take_over(growth::judgement& found, const growing_sites& sites) {
  const auto& first = sites.all.front().found;
  if (!is_leak(found.shape)) {
    found = first;
  } else {
    found.confidence = std::max(found.confidence, first.confidence);
  }
  found.bytes_per_step = sites.bytes_per_step;
  found.bytes_per_step_low = found.bytes_per_step_high = 0;
  for (const auto& one : sites.all) {
    found.bytes_per_step_low += one.found.bytes_per_step_low;
    found.bytes_per_step_high += one.found.bytes_per_step_high;
  }
}

// The verdict on the allocated memory of a device. Call sites decide whether it accumulates; the
// series of the whole says how it looks, and alone is fooled by what changes once, by random
// lengths, and by small leaks beside large batches.
[[nodiscard]] verdict judge_device(const verdict_maker& with, subject about,
                                   const device_timeline& device, const growing_sites& sites,
                                   const step_clock& clock, const growth::context& context) {
  auto found = growth::judge(device.whole.least.values, context);
  std::optional<rise> open;
  if (!sites.all.empty()) {
    take_over(found, sites);
    found.negligible = growth::is_negligible(found.bytes_per_step, context.capacity_bytes);
  } else if (is_leak(found.shape) &&
             (sites.work_grows || !rises_to_the_end(device.whole.least.values))) {
    call_it_bounded(found,
                    sites.work_grows ? growth::shape::bounded_records : sites.largest_otherwise);
  } else if (is_leak(found.shape) && found.evidence.steps < steps_that_tell) {
    open = {found.bytes_per_step, steps_that_tell - found.evidence.steps, false};
  }
  if (!sites.work_grows && !is_leak(found.shape) && rises_to_the_end(device.whole.peak.values)) {
    const auto most = growth::judge(device.whole.peak.values, context);
    const auto as_many_again = found.evidence.steps;
    if (is_leak(most.shape) && !most.negligible) open = {most.bytes_per_step, as_many_again, true};
  }
  if (open) call_it_open(found, *open);
  // Two rises, as of a model that was replaced twice by a larger one, are no series of records.
  constexpr std::size_t fewest_records = 3;
  const bool records = found.shape == growth::shape::bounded_records;
  if (records && !sites.work_grows && found.evidence.jumps < fewest_records) {
    found.shape = growth::shape::warmup_plateau;
  }
  const bool leaks = is_leak(found.shape);
  auto made = with.make(std::move(about), std::move(found), &device.whole.least.shown);
  if (leaks) {
    with.name_suspects(made, sites.all);
    with.say_when(made, device.whole, clock);
  } else if (made.found.shape == growth::shape::sawtooth) {
    made.suspects = suspects_of(sites.bounded_growth);
  }
  if (made.about.kind != subject_kind::device) return made;
  if (open) {
    made.needs_more = open->bytes_per_step;
    made.summary = summary_of(*open, made.unit);
    if (open->is_given_back) made.series = device.whole.peak.shown.shown();
  } else if (sites.work_grows && !leaks) {
    made.summary = fmt::format(
        "GPU {} needs more from {} to {}, as the inputs get larger; nothing of earlier ones stays",
        made.about.device, made.unit, made.unit);
  }
  return made;
}

constexpr std::size_t most_site_verdicts = 20;

void tell_if_leak(const verdict_maker& with, subject about, const judged_series& series,
                  const growth::context& context, std::vector<verdict>& to) {
  auto found = growth::judge(series.values, context);
  if (is_leak(found.shape))
    to.push_back(with.make(std::move(about), std::move(found), &series.shown));
}

[[nodiscard]] bool is_told(const std::vector<verdict>& devices, std::uint32_t device,
                           std::uint32_t site) {
  return std::ranges::any_of(devices, [&](const verdict& one) {
    return one.about.device == device && is_leak(one.found.shape) && !one.suspects.empty() &&
           one.suspects.front().site == site;
  });
}

// What became of what an episode had gathered when the latest step that touched its lines ended.
enum class afterwards : std::uint8_t { not_seen, gone, still_there };

[[nodiscard]] afterwards after_episode(const growing_sites& sites, const device_timeline& run) {
  for (const auto& one : sites.all) {
    const auto page = std::ranges::find(run.sites.pages(), one.site, &site_history::site);
    if (page == run.sites.pages().end() || page->touched_steps == 0) return afterwards::not_seen;
    if (page->stayed.bytes > one.bytes / 2) return afterwards::still_there;
  }
  return afterwards::gone;
}

// What an episode gathers and does not keep is a fact. It is worth a warning where it takes a tenth
// of the GPU, or an episode of ten times the length would run out of memory; not where the episode is over,
// and the run has gone on without more of it.
void call_it_a_fact(verdict& made, std::uint64_t length, std::uint64_t capacity, afterwards seen,
                    bool has_ended) {
  constexpr std::uint64_t few = 10;
  const auto gathered = made.bytes_per_step * static_cast<double>(length);
  const bool is_large = few * gathered >= static_cast<double>(capacity);
  const bool ends_soon = made.steps_to_oom && *made.steps_to_oom <= few * length;
  const bool is_worth_it = is_large || ends_soon;
  if (!is_leak(made.found.shape) || capacity == 0 || (is_worth_it && !has_ended)) return;
  made.found.negligible = !is_worth_it;
  if (seen == afterwards::gone || has_ended) {  // explain() finds the line
    made.bound = program::bound{program::bound_kind::episode, {}, 0, made.about.name, length};
  }
  const auto more = std::exchange(made.steps_to_oom, std::nullopt);
  made.ns_to_oom.reset();
  made.elsewhere.clear();
  made.summary = fmt::format(
      "{} of {} {}s gathers {} on GPU {}", made.about.name, text::format_count(length), made.unit,
      text::format_bytes(static_cast<std::uint64_t>(std::llround(gathered))), made.about.device);
  if (seen == afterwards::gone) made.summary += " and gives it back";
  if (ends_soon) {
    made.summary += fmt::format("; about {} {}s more would run out of memory",
                                text::format_count(*more), made.unit);
  }
}

void tell_episodes(verdict_maker with, const std::string& name, const episodes& all, bool calls,
                   const timeline& run, const std::vector<verdict>& devices,
                   std::vector<verdict>& to) {
  const auto* const longest = all.longest();
  if (longest == nullptr) return;
  if (calls) with.unit = "call";
  for (const auto& [number, device] : longest->devices()) {
    const auto index = number;  // Clang 14 captures no structured binding.
    const growth::context context{.capacity_bytes = with.capacity_of(index)};
    const auto sites = find_growing(index, device, context);
    if (sites.all.empty() || is_told(devices, index, sites.all.front().site)) continue;
    auto& made = to.emplace_back(judge_device(with, {subject_kind::phase, index, name}, device,
                                              sites, longest->clock(), context));
    const auto whole = run.devices().find(index);
    const auto seen =
        whole == run.devices().end() ? afterwards::not_seen : after_episode(sites, whole->second);
    // What is still there is kept up to the next episode, or for ever: steps tell, if they are enough.
    const bool is_open = std::ranges::any_of(devices, [&](const verdict& one) {
      return one.about.device == index && one.found.shape == growth::shape::unknown;
    });
    if (seen == afterwards::still_there && is_open) continue;
    const auto length = longest->clock().now() + episodes::first_points;
    const bool is_steady = std::ranges::any_of(devices, [&](const verdict& one) {
      return one.about.device == index && answer_of(one) == answer::steady;
    });
    call_it_a_fact(made, length, context.capacity_bytes, seen, is_steady && all.now() != longest);
  }
}

void tell_sites(const verdict_maker& with, std::uint32_t device, const growing_sites& sites,
                std::vector<verdict>& to) {
  for (std::size_t i = 0; i < std::min(sites.all.size(), most_site_verdicts); ++i) {
    const auto& one = sites.all[i];
    auto made =
        with.make({subject_kind::site, device, fmt::format("{}", one.site)}, one.found, nullptr);
    made.suspects = {one};
    made.suspects.front().share = 1;
    to.push_back(std::move(made));
  }
}

// Categories of which a call site leaks.
void tell_categories(const verdict_maker& with, const collector& collected,
                     const std::vector<growing_sites>& devices, std::vector<verdict>& to) {
  attribution::by_category<growing_sites> found;
  for (const auto& sites : devices) {
    for (const auto& one : sites.all) {
      found[one.what].all.push_back(one);
      found[one.what].bytes_per_step += one.bytes_per_step;
    }
  }
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    const auto what = static_cast<attribution::category>(i);
    auto& sites = found[what];
    if (sites.all.empty()) continue;
    judged_series series;
    for (const auto value : collected.categories().of(what, collected.steps().clock().now())) {
      series.add(value, 1);
    }
    const auto before = to.size();
    const growth::context context{.capacity_bytes = with.capacity_of(sites.all.front().device)};
    tell_if_leak(with, {subject_kind::category, 0, std::string(name_of(what))}, series, context,
                 to);
    if (to.size() == before) continue;
    for (auto& one : sites.all) one.share = one.bytes_per_step / sites.bytes_per_step;
    with.name_suspects(to.back(), sites.all);
  }
}

// Reserved grows though neither what is allocated nor its peak does: free memory in pieces that
// nothing fits into.
void tell_reserved(const verdict_maker& with, std::uint32_t device, const device_series& whole,
                   const segment_makers& makers, const growth::context& about,
                   std::vector<verdict>& to) {
  // Some part of what is reserved for larger peaks is always left over, too: fragmentation is
  // where the peaks explain less than a tenth.
  constexpr double least_stranded = 0.9;
  const auto stranded = growth::judge(whole.stranded.values, about);
  const auto reserved = growth::judge(whole.reserved.values, about);
  if (!is_leak(stranded.shape) ||
      stranded.evidence.net_bytes < least_stranded * reserved.evidence.net_bytes)
    return;
  const auto before = to.size();
  tell_if_leak(with, {subject_kind::reserved, device, {}}, whole.reserved, about, to);
  if (to.size() != before) {
    with.name_suspects(to.back(), makers.suspects(to.back().bytes_per_step));
  }
}

// Memory that this process has from CUDA itself.
void tell_outside(const verdict_maker& with, std::uint32_t device, const device_series& whole,
                  const growth::context& about, std::vector<verdict>& to) {
  tell_if_leak(with, {subject_kind::outside, device, {}}, whole.outside, about, to);
}

// Memory that grows within an evaluation or a phase that the program named; `devices`: the verdicts
// on the devices. A suspect that one of them names already is not reported again.
void tell_phases(const verdict_maker& with, const collector& collected,
                 const trace::dictionary& names, const std::vector<verdict>& devices,
                 std::vector<verdict>& to) {
  const auto& phases = collected.phases();
  const auto& run = collected.steps();
  tell_episodes(with, "evaluation", phases.evaluation(), true, run, devices, to);
  for (const auto& [name, found] : phases.by_name()) {
    tell_episodes(with, std::string(names[name]), found, found.by_calls(), run, devices, to);
  }
}

}  // namespace

findings conclude(const collector& collected, const replay::replayer& replayed,
                  const trace::dictionary& names, const std::string& unit,
                  const std::vector<expectation>& suppressions) {
  // So few steps tell nothing, and calls of a model may; not those of one or two steps alone, at
  // whose end what an episode has kept may go.
  constexpr std::uint64_t several = 4;
  const auto* const calls =
      collected.steps().clock().now() < several ? nullptr : collected.phases().run_by_calls();
  const auto& run = calls == nullptr ? collected.steps() : *calls;
  findings made;
  for (auto& one : said_by_program(names)) made.expectations.push_back({std::move(one)});
  for (const auto& one : suppressions) made.expectations.push_back({one});
  const verdict_maker with{replayed, calls == nullptr ? unit : "call", !made.expectations.empty()};
  std::vector<verdict> others;
  std::vector<growing_sites> by_device;
  for (const auto& [index, device] : run.devices()) {
    const growth::context context{.capacity_bytes = with.capacity_of(index)};
    auto& sites = by_device.emplace_back(find_growing(index, device, context));
    note_given_back(sites, device, names);
    const auto now = collected.steps().clock().now();
    const auto weights = collected.categories().of(attribution::category::weights, now);
    for (auto& one : sites.all) {
      one.fits_weights =
          !weights.empty() && one.found.evidence.net_bytes <= static_cast<double>(weights.back());
      if (one.what != attribution::category::weights) continue;
      one.modules_run = collected.modules().all_run(index, one.site, now);
      one.modules_wrap_each_other = collected.modules().wrap_each_other(index, one.site, now);
      one.modules_take_turns = collected.modules().take_turns(index, one.site);
      one.in_running_model = collected.modules().model_runs(index, one.site, now);
      one.part_of_model = collected.modules().part_of(index, one.site, now);
    }
    made.verdicts.push_back(
        judge_device(with, {subject_kind::device, index, {}}, device, sites, run.clock(), context));
    if (!is_leak(made.verdicts.back().found.shape)) {
      tell_reserved(with, index, device.whole, collected.makers(index), context, others);
    }
    tell_outside(with, index, device.whole, context, others);
    tell_sites(with, index, sites, others);
  }
  if (calls == nullptr) tell_categories(with, collected, by_device, others);
  tell_phases(with, collected, names, made.verdicts, others);
  std::ranges::move(others, std::back_inserter(made.verdicts));
  const bool is_over = !collected.phases().trains() && replayed.ooms().empty() &&
                       replayed.info(format::info_key::exit_status) == "0";
  explain(made, collected.kept(), names,
          text::number_in(replayed.info(format::info_key::positions)).value_or(0), is_over);
  return made;
}

}  // namespace memtrace::verdicts
