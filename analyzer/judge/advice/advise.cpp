// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/advice/combine.h"
#include "analyzer/judge/advice/keep_best.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/prove.h"
#include "analyzer/judge/advice/rank.h"
#include "analyzer/judge/advice/window.h"
#include "analyzer/model/allocator/side_by_side.h"

namespace memtrace::advice {

namespace {

// For how many at most the smallest capacity is looked for, and what all of that may cost: requests
// replayed, some 80 times the log for each.
constexpr std::size_t most_capacities = 4;
constexpr std::size_t capacity_budget = 40'000'000;
constexpr std::size_t replays_a_capacity = 80;

using piece_function = proposals (*)(const blocks::evidence&);

[[nodiscard]] std::vector<proposal> ask_all(const blocks::evidence& of) {
#define MEMTRACE_ADVICE_FUNCTION(name) name,
  constexpr std::array all = {MEMTRACE_ADVICE_PIECES(MEMTRACE_ADVICE_FUNCTION)};
#undef MEMTRACE_ADVICE_FUNCTION
  std::vector<proposal> found;
  for (const piece_function ask : all) {
    auto some = ask(of);
    std::move(some.begin(), some.end(), std::back_inserter(found));
  }
  return found;
}

void find_capacities(std::vector<piece>& ranked, const prover& by, const blocks::evidence& of) {
  const auto one_costs = replays_a_capacity * std::max<std::size_t>(of.log.requests.size(), 1);
  const auto affordable = capacity_budget / one_costs;  // the first is that of the run as it is
  const std::size_t most = std::min(most_capacities, affordable == 0 ? 0 : affordable - 1);
  std::vector<piece*> chosen;
  for (auto& one : ranked) {
    if (chosen.size() == most) break;
    if (one.replayed) chosen.push_back(&one);
  }
  by.find_capacities(chosen);
}

// Each piece is replayed some ten times.
constexpr std::size_t most_requests = 300'000;

// In the order in which they were asked for, and empty where nothing is won.
[[nodiscard]] std::vector<std::optional<piece>> prove_all(const std::vector<proposal>& asked,
                                                          const prover& by,
                                                          const on_replayed_t& on_replayed) {
  std::vector<std::optional<piece>> proved(asked.size());
  std::mutex telling;
  std::size_t done = 0;
  allocator::side_by_side(asked.size(), [&](std::size_t i) {
    proved[i] = by.prove(asked[i]);
    if (!on_replayed) return;
    const std::lock_guard one_at_a_time(telling);
    on_replayed({++done, asked.size()});
  });
  return proved;
}

void advise_on(const blocks::evidence& whole, advice_found& found, std::set<std::string>& of_host,
               const on_replayed_t& on_replayed) {
  const auto window = shorten(whole, most_requests);
  const auto& of = window ? *window->of : whole;
  if (!of.part.empty()) {
    found.limits.push_back(fmt::format("GPU {}: advice is on {}", of.log.device, of.part));
  }
  const prover by(of);
  auto asked = ask_all(of);
  // What is said of the host holds for all devices.
  std::erase_if(asked, [&](const proposal& what) {
    return !what.device && !of_host.insert(what.id + what.amount).second;
  });
  std::vector<piece> pieces;
  for (auto& made : prove_all(asked, by, on_replayed)) {
    if (!made || !is_worth_it(*made, by.least_saving())) continue;
    if (made->saves_bytes < 0) {
      made->what.evidence +=
          fmt::format("; replayed, {} more are reserved at the peak",
                      text::format_bytes(0 - static_cast<std::uint64_t>(made->saves_bytes)));
    }
    if (!of.part.empty()) made->what.evidence += fmt::format(" (replayed: {})", of.part);
    pieces.push_back(std::move(*made));
  }
  rank(pieces);
  keep_best(pieces);
  find_capacities(pieces, by, of);
  if (auto all = combine(pieces, by)) found.combined.push_back(std::move(*all));
  for (auto& one : pieces) {
    one.what.rewrite = nullptr;
    found.pieces.push_back(std::move(one));
  }
}

}  // namespace

advice_found advise(const std::map<std::uint32_t, blocks::device_evidence>& devices,
                    const on_replayed_t& on_replayed) {
  advice_found found;
  std::set<std::string> of_host;
  for (const auto& [device, known] : devices) {
    if (known.of == nullptr) {
      const auto why = known.log == nullptr || known.log->doubts.empty()
                           ? std::string("nothing was asked of the allocator")
                           : known.log->doubts.front();
      found.limits.push_back(fmt::format("GPU {}: no advice by replay: {}", device, why));
      continue;
    }
    advise_on(*known.of, found, of_host, on_replayed);
  }
  rank(found.pieces);
  return found;
}

}  // namespace memtrace::advice
