// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/refusals.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/units.h"
#include "analyzer/run/model/user_lines.h"

namespace memtrace::run {

namespace {

using text::brief_bytes;

// "PyTorch's pool has 16 GiB, 1 GiB of it unused, beside 14 GiB asleep"
[[nodiscard]] std::string pool_words(const replay::device_totals& totals) {
  const auto pool = fmt::format("PyTorch's pool has {}, {} of it unused",
                                brief_bytes(totals.reserved), brief_bytes(totals.all_unused()));
  if (totals.asleep == 0) return pool;
  return pool + ", beside " + brief_bytes(totals.asleep) + " asleep";
}

// Memory that PyTorch's pool keeps in whole segments, and would give back, is enough for it.
[[nodiscard]] bool would_pass_without_cache(const outside_refusal_report& what) {
  const auto empty = static_cast<std::size_t>(replay::unused_reason::empty_segments);
  return what.facts.totals.unused[empty] >= what.facts.requested;
}

}  // namespace

std::vector<std::string> refusal_parts(const outside_refusal_report& what) {
  const auto& totals = what.facts.totals;
  auto frames = what.frames;  // a library's own have no line
  std::erase_if(frames, [](const code::source_frame& one) { return one.line == 0; });
  std::vector<std::string> parts{
      fmt::format("{} refused {}{}", brief_bytes(what.facts.requested),
                  what.library.empty() ? "outside of PyTorch's pool" : "to " + what.library,
                  at_line(frames, {}))};
  if (totals.reserved + totals.asleep != 0) parts.push_back(pool_words(totals));
  if (would_pass_without_cache(what)) parts.emplace_back("fix: torch.cuda.empty_cache() before it");
  return parts;
}

bool was_in_pieces(const process_report& process, const oom_report& oom) {
  if (oom.facts.totals.all_unused() >= oom.facts.requested) return true;
  const bool by_a_setting = std::ranges::any_of(process.advice.pieces, [](const auto& one) {
    return (one.mends_out_of_memory || one.gets_past_request) && !one.changes_program;
  });
  const auto unused = oom.facts.totals.all_unused() + oom.facts.device_free;
  return by_a_setting && unused >= oom.facts.requested;
}

}  // namespace memtrace::run
