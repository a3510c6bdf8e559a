// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/remedies/prescribe.h"

#include <array>
#include <utility>

#include "analyzer/judge/remedies/kinds.h"

namespace memtrace::remedies {

namespace {

using kind = std::optional<verdicts::remedy> (*)(const clues&);

#define MEMTRACE_REMEDY(name) &name,
constexpr std::array kinds = {MEMTRACE_REMEDY_KINDS(MEMTRACE_REMEDY)};
#undef MEMTRACE_REMEDY

[[nodiscard]] clues clues_of(const verdicts::verdict& about, const verdicts::culprit& who,
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

void prescribe(verdicts::findings& found, const trace::dictionary& names, const run_clues& run) {
  for (auto& about : found.verdicts) {
    // What fills up and is emptied again has culprits where it fills for no good reason.
    const bool fills = about.found.shape == growth::shape::sawtooth;
    if (!growth::is_leak(about.found.shape) && !fills) continue;
    const bool of_lines = !is_of_the_whole(about.about.kind);
    for (auto& who : about.culprits) {
      if (of_lines) who.fix = remedy_saving(who.bytes_per_step, clues_of(about, who, names, run));
      if (who.fix && fills && !who.fix->helps_what_fills) who.fix.reset();
    }
    if ((about.culprits.empty() || !of_lines) && !about.fix && !fills) {
      const verdicts::culprit nobody;
      about.fix = remedy_saving(about.bytes_per_step, clues_of(about, nobody, names, run));
    }
  }
}

}  // namespace memtrace::remedies
