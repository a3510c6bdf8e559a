// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/remedies/remedies.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analyzer/base/text/parts.h"
#include "analyzer/judge/verdicts/retainer_words.h"

namespace memtrace::remedies {

bool clues::kept_with_graph() const {
  return kept_by(format::held_graph) || kept_by(format::held_has_graph);
}

bool clues::lost_in_graph() const {
  return kept_by(format::held_unreachable) &&
         std::ranges::any_of(about.suspects, [](const verdicts::suspect& one) {
           return one.what == attribution::category::activations && !one.retained_by.empty() &&
                  (one.retained_by.front().flags & format::held_unreachable) != 0;
         });
}

bool clues::kept_in(std::initializer_list<std::string_view> classes) const {
  if (held_by == nullptr || held_by->container.empty()) return false;
  const auto name = verdicts::container_class(*held_by);
  return classes.size() == 0 || std::ranges::find(classes, name) != classes.end();
}

bool clues::passes_through(std::string_view file_part) const {
  const auto there = [&](const code::source_frame& frame) {
    return frame.file.find(file_part) != frame.file.npos;
  };
  return std::ranges::any_of(frames, there) || std::ranges::any_of(forward, there);
}

bool clues::in_evaluation() const {
  return who.born_in == attribution::phase::evaluation ||
         (about.about.kind == verdicts::subject_kind::phase && about.about.name == "evaluation");
}

bool clues::grows_by_results() const {
  // What autograd saved, as the result of a softmax, is a result all the same if the container has it itself.
  const auto is_most = [&](const verdicts::retainer& one) {
    return one.bytes_per_step > 0 ? 2 * one.bytes_per_step > who.bytes_per_step
                                  : one.bytes > who.bytes / 2;
  };
  const bool is_kept_itself = held_by != nullptr && !held_by->container.empty() &&
                              (held_by->flags & format::held_graph) == 0 && is_most(*held_by);
  return who.what == attribution::category::collected ||
         who.what == attribution::category::outputs || (kept_with_graph() && is_kept_itself);
}

std::string clues::also_kept() const {
  if (held_by == nullptr || held_by->also.empty()) return {};
  return fmt::format(" of both: `{}` has the same memory", held_by->also);
}

std::string clues::read_again() const {
  using program::read_how;
  const auto how = held_by == nullptr ? read_how::not_known : held_by->read.how;
  if (how == read_how::not_known) return " where the GPU does not need it again";
  if (how != read_how::with_others) return {};
  return fmt::format(", and back (`.cuda()`) where {}:{}{} with it and something else",
                     text::file_name(held_by->read.file), held_by->read.line,
                     held_by->read.has_more ? " and lines after it compute" : " computes");
}

void clues::name_by_readings(verdicts::remedy& what) const {
  using program::read_how;
  const auto how = held_by == nullptr ? read_how::not_known : held_by->read.how;
  if (how == read_how::alone) what.id = "results_for_host";
  if (how == read_how::with_others) what.id = "results_read_again";
}

std::string clues::variable() const {
  if (held_by == nullptr) return "what keeps it";
  auto name = verdicts::name_of(*held_by);
  if (kept_by(format::held_statement)) name.front() = 'A';
  return name;
}

namespace {

using applies_t = std::optional<verdicts::remedy> (*)(const clues&);

#define MEMTRACE_REMEDY(name) &name,
constexpr std::array kinds = {MEMTRACE_REMEDY_KINDS(MEMTRACE_REMEDY)};
#undef MEMTRACE_REMEDY

[[nodiscard]] clues clues_of(const verdicts::verdict& about, const verdicts::suspect& who,
                             const trace::dictionary& names, const run_clues& run) {
  return {about,
          who,
          who.retained_by.empty() ? nullptr : &who.retained_by.front(),
          code::frames_of(names, who.stack),
          code::frames_of(names, who.forward),
          run};
}

[[nodiscard]] std::optional<verdicts::remedy> remedy_saving(double bytes_per_step,
                                                            const clues& of) {
  auto what = remedy_for(of);
  if (what) what->saves_bytes_per_step = bytes_per_step;
  return what;
}

// Its remedy is one, whichever lines had a part in it.
[[nodiscard]] bool is_of_the_whole(verdicts::subject_kind what) {
  using verdicts::subject_kind;
  return what == subject_kind::reserved || what == subject_kind::outside ||
         what == subject_kind::host;
}

}  // namespace

std::optional<verdicts::remedy> remedy_for(const clues& of) {
  for (const auto applies : kinds) {
    if (auto what = applies(of)) return what;
  }
  return std::nullopt;
}

std::optional<verdicts::remedy> remedy_at_failure(const verdicts::retainer& held_by) {
  const verdicts::verdict nothing;
  const verdicts::suspect nobody;
  const clues of{nothing, nobody, &held_by, {}, {}, {}};
  if (held_by.holder == eval_loop_container) return evaluation_results(of);
  auto found = exception_frames(of);
  return found ? found : graph_of_gradients(of);
}

void prescribe(verdicts::findings& found, const trace::dictionary& names, const run_clues& run) {
  for (auto& about : found.verdicts) {
    // A buffer that is emptied again has suspects where it fills for no good reason.
    const bool fills = about.found.shape == growth::shape::sawtooth;
    if ((!growth::is_leak(about.found.shape) && !fills) || verdicts::is_expected(about)) continue;
    const bool of_lines = !is_of_the_whole(about.about.kind);
    for (auto& who : about.suspects) {
      if (who.expected && who.expected->is_all) continue;
      if (of_lines) who.fix = remedy_saving(who.bytes_per_step, clues_of(about, who, names, run));
      if (who.fix && fills && !who.fix->helps_what_fills) who.fix.reset();
    }
    if ((about.suspects.empty() || !of_lines) && !about.fix && !fills) {
      const verdicts::suspect nobody;
      about.fix = remedy_saving(about.bytes_per_step, clues_of(about, nobody, names, run));
    }
  }
}

}  // namespace memtrace::remedies
