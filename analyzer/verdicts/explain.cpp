// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/explain.h"

#include "analyzer/remedies/prescribe.h"
#include "analyzer/verdicts/filling.h"

namespace memtrace::verdicts {

void explain(findings& found, const retention& kept, const trace::dictionary& names,
             const remedies::run_clues& run) {
  for (auto& about : found.verdicts) {
    for (auto& who : about.culprits) who.retained_by = kept.of_site(about.about.device, who.site);
  }
  judge_filling(found);
  remedies::prescribe(found, names, run);
}

}  // namespace memtrace::verdicts
