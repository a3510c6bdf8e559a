// SPDX-License-Identifier: Apache-2.0
//
// The state that the devices of a run share while it is read.
#pragma once

#include <set>
#include <utility>

#include "analyzer/model/attribution/attention.h"
#include "analyzer/model/attribution/frame_marks.h"
#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/attribution/named_phases.h"
#include "analyzer/model/attribution/phase_tracker.h"
#include "analyzer/model/attribution/result.h"
#include "analyzer/model/attribution/rules.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::attribution {

struct run_context {
  run_context(const trace::dictionary& dictionary, options given)
      : names(dictionary),
        wanted(std::move(given)),
        marks(dictionary),
        phases(dictionary),
        softmaxes(dictionary) {}

  const trace::dictionary& names;
  options wanted;
  frame_marks marks;
  phase_tracker phases;
  named_phases named;
  known_places known;
  run_knowledge knowledge;
  softmax_calls softmaxes;
  std::set<trace::object_id> recomputed;  // outermost modules that ran again in backward
};

}  // namespace memtrace::attribution
