// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "analyzer/advice/combine.h"
#include "analyzer/advice/pieces.h"
#include "analyzer/advice/prove.h"
#include "analyzer/advice/rank.h"

namespace memtrace::advice {

namespace {

// For how many the smallest capacity is looked for: some hundred replays each, of this many
// requests at most.
constexpr std::size_t most_capacities = 4;
constexpr std::size_t most_for_capacities = 50'000;

using piece_function = proposals (*)(const evidence&);

[[nodiscard]] std::vector<proposal> ask_all(const evidence& of) {
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

void find_capacities(std::vector<piece>& ranked, prover& by, const evidence& of) {
  if (of.log.requests.size() > most_for_capacities) return;
  std::size_t left = most_capacities;
  for (auto& one : ranked) {
    if (left == 0) return;
    if (!one.what.options && !one.what.rewrite) continue;
    by.find_capacity(one);
    --left;
  }
}

void advise_on(const evidence& of, advice_found& found, std::set<std::string>& of_host) {
  prover by(of);
  std::vector<piece> pieces;
  for (const auto& what : ask_all(of)) {
    // What is said of the host holds for all devices.
    if (!what.device && !of_host.insert(what.id + what.amount).second) continue;
    if (auto made = by.prove(what); made && is_worth_it(*made, by.least_saving())) {
      if (!of.part.empty()) made->what.evidence += fmt::format(" (replayed: {})", of.part);
      pieces.push_back(std::move(*made));
    }
  }
  rank(pieces);
  find_capacities(pieces, by, of);
  if (auto all = combine(pieces, by)) found.combined.push_back(std::move(*all));
  std::move(pieces.begin(), pieces.end(), std::back_inserter(found.pieces));
}

}  // namespace

advice_found advise(const std::map<std::uint32_t, device_evidence>& devices) {
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
    advise_on(*known.of, found, of_host);
  }
  rank(found.pieces);
  return found;
}

}  // namespace memtrace::advice
