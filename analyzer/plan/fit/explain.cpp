// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/base/text/page.h"
#include "analyzer/base/text/units.h"
#include "analyzer/model/attribution/terms.h"
#include "analyzer/run/model/load.h"
#include "analyzer/trace/code/places.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/find_traces.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::fit {

namespace {

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
  made.unused = facts.totals.reserved - std::min(facts.totals.allocated, facts.totals.reserved);
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

// Of a smaller batch nothing is told: a larger one is wanted.
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

}  // namespace memtrace::fit
