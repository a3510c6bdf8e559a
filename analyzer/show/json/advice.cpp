// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/parts.h"

#include <cstddef>

#include "analyzer/run/model/changes.h"

namespace memtrace::as_json {

namespace {

[[nodiscard]] json change_json(const run::change& one, std::size_t rank) {
  return {{"id", one.id},
          {"title", one.title},
          {"amount", one.amount},
          {"saves_bytes", one.saves_bytes},
          {"saves_bytes_per_step",
           one.saves_bytes_per_step ? json(*one.saves_bytes_per_step) : json(0)},
          {"saves_ns", or_null(one.saves_ns)},
          {"saves_bytes_most", or_null(one.saves_bytes_most)},
          {"saves_allocated_bytes", or_null(one.saves_allocated)},
          {"saves_capacity_bytes", or_null(one.saves_capacity)},
          {"saves_host_bytes", or_null(one.saves_host_bytes)},
          {"retries_before", or_null(one.retries_before)},
          {"retries_after", or_null(one.retries_after)},
          {"mends_out_of_memory", one.mends_out_of_memory},
          {"free", one.free},
          {"proof", name_of(one.how)},
          {"evidence", one.evidence},
          {"change", one.what},
          {"source", text_or_null(one.source)},
          {"cost", text_or_null(one.cost)},
          {"not_when", text_or_null(one.not_when)},
          {"group", text_or_null(one.group)},
          {"caution", text_or_null(one.caution)},
          {"subject", text_or_null(one.subject)},
          {"device", or_null(one.device)},
          {"pid", one.pid},
          {"frames", frames_json(one.frames)},
          {"rank", rank}};
}

}  // namespace

json advice_json(const run::run_report& processes) {
  auto advice = json::array();
  for (const auto* const one : run::ranked(processes)) {
    advice.push_back(change_json(*one, advice.size() + 1));
  }
  return advice;
}

json combined_advice_json(const run::run_report& processes) {
  auto all = json::array();
  for (const auto& process : processes) {
    for (const auto& one : process.advice.combined) {
      all.push_back({{"pid", process.run.pid},
                     {"device", one.device},
                     {"ids", one.ids},
                     {"saves_bytes", one.saves_bytes},
                     {"peak_reserved_bytes", one.peak_reserved},
                     {"proof", name_of(one.how)}});
    }
  }
  return all;
}

json advice_limits_json(const run::run_report& processes) {
  auto all = json::array();
  for (const auto& process : processes) {
    for (const auto& one : process.advice.limits) {
      all.push_back({{"pid", process.run.pid}, {"text", one}});
    }
  }
  return all;
}

}  // namespace memtrace::as_json
