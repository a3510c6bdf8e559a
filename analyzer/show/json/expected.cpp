// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/expected.h"

#include "analyzer/run/model/expected.h"

namespace memtrace::as_json {

json expected_json(const run::process_report& process, const run::device_report& device) {
  auto terms = json::array();
  const auto peak = device.peak_allocated.totals.allocated;
  for (const auto& term : run::expected_terms(process, device)) {
    terms.push_back(
        {{"term", term.id},
         {"expected_bytes", term.expected ? json(*term.expected) : json(nullptr)},
         {"measured_bytes", term.measured},
         {"off", estimate::is_off(term, peak)},
         {"formula", text_or_null(term.formula)},
         {"source", term.expected ? json(estimate::citation(term.from)) : json(nullptr)},
         {"note", text_or_null(term.note)}});
  }
  return terms;
}

json room_json(const run::process_report& process, const run::device_report& device) {
  const auto room = run::room_of(process, device);
  if (!room) return nullptr;
  return {{"used_bytes", room->used},
          {"used_share", static_cast<double>(room->used) / static_cast<double>(room->capacity)},
          {"batch_factor", room->batch_factor ? json(*room->batch_factor) : json(nullptr)}};
}

}  // namespace memtrace::as_json
