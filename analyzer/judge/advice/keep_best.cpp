// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/keep_best.h"

#include <algorithm>

namespace memtrace::advice {

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
}

}  // namespace memtrace::advice
