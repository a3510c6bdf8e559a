// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/prescribe.h"

#include <array>
#include <utility>

#include "analyzer/remedies/kinds.h"

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
          report::frames_of(names, who.stack),
          report::frames_of(names, who.forward),
          run};
}

[[nodiscard]] std::optional<verdicts::remedy> remedy_saving(double bytes_per_step,
                                                            const clues& of) {
  auto what = remedy_for(of);
  if (what) what->saves_bytes_per_step = bytes_per_step;
  return what;
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
    for (auto& who : about.culprits) {
      who.fix = remedy_saving(who.bytes_per_step, clues_of(about, who, names, run));
    }
    const bool reserved = about.about.kind == verdicts::subject_kind::reserved;
    if ((about.culprits.empty() || reserved) && !about.fix) {
      const verdicts::culprit nobody;
      about.fix = remedy_saving(about.bytes_per_step, clues_of(about, nobody, names, run));
    }
  }
}

}  // namespace memtrace::remedies
