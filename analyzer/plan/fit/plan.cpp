// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"
#include "analyzer/model/attribution/terms.h"
#include "analyzer/plan/fit/law.h"
#include "analyzer/run/model/load.h"
#include "analyzer/trace/code/places.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/find_traces.h"
#include "analyzer/trace/reader/reader.h"

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

constexpr std::size_t most_categories = 3;

[[nodiscard]] std::optional<run::process_report> load_refused(const std::string& folder) {
  for (const auto& path : trace::traces_in(folder)) {
    auto source = trace::file_source::open(path);
    if (!source) continue;
    auto reader = trace::reader::open(*source);
    if (!reader) continue;
    auto process = run::load(path, *reader);
    if (run::decisive_oom(process) != nullptr) return process;
  }
  return std::nullopt;
}

[[nodiscard]] binding binding_of(const run::oom_report& oom) {
  binding made;
  const auto& facts = oom.facts;
  made.place = oom.frames.empty() ? code::place_of_request(oom.frames, oom.forward, oom.thread)
                                  : code::describe_place(oom.frames, oom.thread);
  made.requested = facts.requested;
  made.device_free = facts.device_free;
  made.unused = facts.totals.all_unused();
  made.largest_free = facts.has_layout ? facts.free.overall : 0;
  made.fragmented = made.unused >= made.requested;
  if (!oom.held) return made;
  made.phase = attribution::short_words_of(oom.held->during);
  for (const auto& row : oom.held->categories) {
    if (made.held.size() == most_categories) break;
    made.held.push_back({attribution::words_of(row.what), row.bytes});
  }
  return made;
}

// A smaller batch is no way: a larger one is wanted.
[[nodiscard]] bool is_a_way(const advice::piece& one, std::uint64_t shortage) {
  if (one.what.group == "train_batch") return false;
  return one.mends_out_of_memory && one.saves_bytes >= static_cast<std::int64_t>(shortage);
}

}  // namespace

explanation explain(const std::string& folder, std::uint64_t shortage, std::size_t most) {
  explanation made;
  const auto process = load_refused(folder);
  if (!process) return made;
  made.bound = binding_of(*run::decisive_oom(*process));
  for (const auto& one : process->advice.pieces) {
    if (!is_a_way(one, shortage)) continue;
    made.ways.push_back({one.what.id, one.what.title, one.what.change, one.what.cost,
                         advice::name_of(one.what.how), one.saves_bytes, one.changes_program,
                         one.what.changes_results});
  }
  std::ranges::stable_sort(made.ways, {}, [](const way& one) {
    return std::tuple(one.changes_results, one.changes_program);
  });
  if (made.ways.size() > most) made.ways.resize(most);
  return made;
}

std::string sentence_of(const binding& bound) {
  std::vector<std::string> held;
  for (const auto& one : bound.held) {
    held.push_back(fmt::format("{} {}", text::format_bytes(one.bytes), one.name));
  }
  auto text = fmt::format(
      "{}at {}: {} wanted, {} free on the device", bound.phase.empty() ? "" : bound.phase + ", ",
      bound.place, text::format_bytes(bound.requested), text::format_bytes(bound.device_free));
  if (bound.unused != 0) {
    text += fmt::format(", and {} in free pieces of what PyTorch has reserved{}",
                        text::format_bytes(bound.unused),
                        bound.fragmented ? ", none of them large enough: fragmentation" : "");
  }
  if (!held.empty()) text += "; held then: " + text::join(held, ", ");
  return text;
}

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
