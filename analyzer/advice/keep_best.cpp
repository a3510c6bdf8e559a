// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/keep_best.h"

#include <algorithm>

namespace memtrace::advice {

namespace {

void keep_best_options(std::vector<piece>& ranked) {
  const auto is_option = [](const piece& one) { return one.what.group == options_group; };
  const auto is_expandable = [](const piece& one) { return one.what.id == "expandable_segments"; };
  const auto best = std::find_if(ranked.begin(), ranked.end(), is_option);
  if (best == ranked.end()) return;
  // About as good as the best and valid for all addresses.
  const auto expandable = std::find_if(best, ranked.end(), is_expandable);
  if (expandable != ranked.end() && expandable != best &&
      expandable->mends_out_of_memory == best->mends_out_of_memory &&
      expandable->saves_bytes >= best->saves_bytes - best->saves_bytes / 20) {
    std::rotate(best, expandable, expandable + 1);
  }
  const auto rest = best + 1;
  bool has_expandable = is_expandable(*best);
  ranked.erase(std::remove_if(rest, ranked.end(),
                              [&](const piece& one) {
                                if (!is_option(one)) return false;
                                if (has_expandable || !is_expandable(one)) return true;
                                has_expandable = true;
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
