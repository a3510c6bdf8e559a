// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/plan.h"

#include <chrono>

#include "analyzer/plan/fit/laws.h"

namespace memtrace::fit {

namespace {

using clock = std::chrono::steady_clock;

[[nodiscard]] double since(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}

// In use at once at that batch beyond what the GPU has; 0: it would be there.
[[nodiscard]] std::uint64_t shortage_of(const row& one) {
  if (!one.line || !one.found.refused) return 0;
  const auto* const fitted = one.found.fitted ? one.found.fitted->fullest() : nullptr;
  const auto outside = fitted == nullptr ? 0 : fitted->used - fitted->peak_reserved;
  const auto needed = one.line->constant +
                      one.line->per_item * static_cast<double>(*one.found.refused) +
                      static_cast<double>(outside) - static_cast<double>(one.gpu.total_bytes);
  return needed <= 0 ? 0 : static_cast<std::uint64_t>(needed);
}

void complete(const wishes& wanted, const laws& known, row& one) {
  const auto& rule = known.of(one.gpu.capability);
  const auto& found = one.found;
  one.line = rule.line_near(found.largest);
  one.kind = rule.kind();
  if (found.largest != 0 && wanted.margin_bytes < one.gpu.total_bytes) {
    one.with_margin = rule.largest(one.gpu.total_bytes - wanted.margin_bytes, wanted.range.step,
                                   found.largest, wanted.range.step);
  }
  if (wanted.explains && found.verified && found.ran_out && !found.ran_out->folder.empty()) {
    one.why = explain(found.ran_out->folder, shortage_of(one));
  }
}

// Each with the training at its largest batch: laws of their own, for what is left is the GPU's.
void find_others(const wishes& wanted, prober& runs, const std::function<bool()>& may_run,
                 row& one) {
  for (const auto what : wanted.others) {
    laws known;
    one.others.push_back({what, find_boundary({one.gpu, one.sequence, one.variant, wanted.range,
                                               what, one.found.largest},
                                              known, runs, may_run)});
  }
}

}  // namespace

plan make_plan(const wishes& wanted, prober& runs, const std::function<bool()>& may_run,
               const std::function<void(const row&)>& on_row) {
  plan made;
  const auto began = clock::now();
  for (std::size_t variant = 0; variant < wanted.variants.size(); ++variant) {
    for (const auto& sequence : wanted.sequences) {
      laws known;
      std::vector<host_point> hosts;  // it is the same host, whatever the GPU
      for (const auto& gpu : wanted.gpus) {
        const auto row_began = clock::now();
        row one;
        one.gpu = gpu;
        one.sequence = sequence;
        one.variant = variant;
        one.found = find_boundary({gpu, sequence, variant, wanted.range}, known, runs, may_run);
        hosts.insert(hosts.end(), one.found.hosts.begin(), one.found.hosts.end());
        one.found.hosts = hosts;
        complete(wanted, known, one);
        if (one.found.verified && one.found.largest != 0) find_others(wanted, runs, may_run, one);
        one.seconds = since(row_began);
        made.runs += one.found.runs;
        for (const auto& other : one.others) made.runs += other.found.runs;
        made.rows.push_back(std::move(one));
        on_row(made.rows.back());
        if (made.rows.back().found.trouble) {
          made.seconds = since(began);
          return made;
        }
      }
    }
  }
  made.seconds = since(began);
  return made;
}

}  // namespace memtrace::fit
