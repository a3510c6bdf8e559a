// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/prove.h"
#include "analyzer/model/allocator/side_by_side.h"

namespace memtrace::advice {

namespace {

// Savings that differ by less are about equal: 1/20.
constexpr std::int64_t equal_within = 20;

[[nodiscard]] std::int64_t device_bytes(const piece& of) {
  return std::max<std::int64_t>(0, of.saves_bytes);
}

// Its saving as a person would say it: of the device, of the host, of capacity. Of those that get
// past the failed request each is enough: the ones that compute the same results come first, and of
// these a setting of the allocator, which changes no line.
[[nodiscard]] auto by_saving(const piece& of) {
  return std::tuple(of.mends_out_of_memory, of.mends_out_of_memory && !of.what.changes_results,
                    of.mends_out_of_memory && of.what.options.has_value(), device_bytes(of),
                    of.saves_capacity.value_or(0), of.what.saves_host_bytes.value_or(0),
                    of.what.saves_ns.value_or(0));
}

// What keeps the results comes before what changes them; a setting is cheaper than a change of the
// program; what was seen is safer than what was reckoned.
[[nodiscard]] auto by_effort(const piece& of) {
  return std::tuple(of.what.changes_results, of.what.how == proof::estimated, of.changes_program);
}

// Of two sizes of micro-batches that both let the program pass, the larger is enough.
void prefer_larger_batches(std::vector<piece>& ranked) {
  for (auto quarter = ranked.begin(); quarter != ranked.end(); ++quarter) {
    if (quarter->what.group != "train_batch" || quarter->what.amount != "1/4") continue;
    const auto half = std::find_if(quarter, ranked.end(), [&](const piece& one) {
      return one.what.group == quarter->what.group && one.what.amount == "1/2" &&
             one.what.device == quarter->what.device && one.mends_out_of_memory;
    });
    if (half != ranked.end()) std::rotate(quarter, quarter + 1, half + 1);
  }
}

}  // namespace

bool is_worth_it(const piece& of, std::uint64_t least) {
  const auto enough = static_cast<std::int64_t>(least);
  return of.mends_out_of_memory || of.gets_past_request || of.saves_bytes >= enough ||
         of.saves_capacity.value_or(0) >= enough || of.what.saves_host_bytes.value_or(0) != 0 ||
         of.what.saves_ns.value_or(0) != 0;
}

void rank(std::vector<piece>& pieces) {
  std::stable_sort(pieces.begin(), pieces.end(), [](const piece& left, const piece& right) {
    return by_saving(left) > by_saving(right);
  });
  for (auto first = pieces.begin(); first != pieces.end();) {
    const auto most = device_bytes(*first);
    const auto equals = std::find_if(first, pieces.end(), [&](const piece& one) {
      return one.mends_out_of_memory != first->mends_out_of_memory ||
             (one.mends_out_of_memory &&
              (one.what.changes_results != first->what.changes_results ||
               one.what.options.has_value() != first->what.options.has_value())) ||
             device_bytes(one) < most - most / equal_within;
    });
    if (most != 0) {
      std::stable_sort(first, equals, [](const piece& left, const piece& right) {
        return by_effort(left) < by_effort(right);
      });
    }
    first = equals;
  }
  prefer_larger_batches(pieces);
}

namespace {

void keep_best_options(std::vector<piece>& ranked) {
  const auto is_option = [](const piece& one) { return one.what.group == options_group; };
  const auto is_steady = [](const piece& one) { return one.what.holds_at_any_address; };
  const auto best = std::find_if(ranked.begin(), ranked.end(), is_option);
  if (best == ranked.end()) return;
  // About as good as the best and valid for all addresses.
  const auto steady = std::find_if(best, ranked.end(), is_steady);
  if (steady != ranked.end() && steady != best &&
      steady->mends_out_of_memory == best->mends_out_of_memory &&
      steady->saves_bytes >= best->saves_bytes - best->saves_bytes / 20) {
    std::rotate(best, steady, steady + 1);
  }
  const auto rest = best + 1;
  bool has_steady = is_steady(*best);
  ranked.erase(std::remove_if(rest, ranked.end(),
                              [&](const piece& one) {
                                if (!is_option(one)) return false;
                                if (has_steady || !is_steady(one)) return true;
                                has_steady = true;
                                return false;
                              }),
               ranked.end());
}

void keep_first_of(std::string_view group, std::vector<piece>& ranked) {
  const auto is_of_it = [&](const piece& one) { return one.what.group == group; };
  const auto best = std::find_if(ranked.begin(), ranked.end(), is_of_it);
  if (best == ranked.end()) return;
  ranked.erase(std::remove_if(best + 1, ranked.end(), is_of_it), ranked.end());
}

}  // namespace

void keep_best(std::vector<piece>& ranked) {
  keep_best_options(ranked);
  keep_first_of(empty_cache_group, ranked);
  keep_first_of(free_earlier_group, ranked);
}

namespace {

// One at a time is tried beside the ones before; a replay each.
constexpr std::size_t most_tried = 10;

[[nodiscard]] std::vector<const proposal*> in_order(std::vector<const proposal*> all) {
  std::stable_partition(all.begin(), all.end(),
                        [](const proposal* what) { return !what->after_sizes; });
  return all;
}

}  // namespace

std::optional<combination> combine(const std::vector<piece>& ranked, const prover& by) {
  std::vector<const proposal*> together;
  std::set<std::string> groups;
  bool options_chosen = false;
  std::uint64_t left = by.peak_before();
  std::size_t tried = 0;
  for (const auto& one : ranked) {
    const auto& what = one.what;
    if (!one.replayed || one.saves_bytes <= 0 || tried == most_tried) continue;
    if (what.changes_results) continue;  // not beside others: it is another training
    if (!what.group.empty() && groups.contains(what.group)) continue;
    if (what.options && options_chosen) continue;
    ++tried;
    together.push_back(&what);
    const auto peak = by.peak_with(in_order(together), false);
    if (!peak || *peak + by.least_saving() > left) {
      together.pop_back();
      continue;
    }
    left = *peak;
    groups.insert(what.group);
    options_chosen = options_chosen || what.options.has_value();
  }
  if (together.size() < 2) return std::nullopt;
  const auto peak = by.peak_with(in_order(together), true);
  if (!peak) return std::nullopt;
  combination made;
  for (const auto* const what : together) {
    made.ids.push_back(what->id);
    made.device = what->device.value_or(0);
    if (what->how == proof::estimated) made.how = proof::estimated;
  }
  made.peak_reserved = *peak;
  made.saves_bytes = static_cast<std::int64_t>(by.peak_before() - *peak);
  return made;
}

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

// Each piece is replayed some ten times; where memory ran out, some twenty-five times.
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
  // Advice on the host holds for all devices.
  std::erase_if(asked, [&](const proposal& what) {
    return !what.device && !of_host.insert(what.id + what.amount).second;
  });
  std::vector<piece> pieces;
  for (auto& made : prove_all(asked, by, on_replayed)) {
    if (!made || !is_worth_it(*made, by.least_saving())) continue;
    if (made->saves_bytes < 0 && !by.ran_out()) {
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
