// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/rank.h"

#include <algorithm>
#include <tuple>

namespace memtrace::advice {

namespace {

// Savings that differ by less are about equal: 1/20.
constexpr std::int64_t equal_within = 20;

[[nodiscard]] std::int64_t device_bytes(const piece& of) {
  const auto saves = std::max<std::int64_t>(0, of.saves_bytes);
  return of.what.changes_results ? saves / 2 : saves;
}

// Of device, host and capacity, what a person would call its saving.
[[nodiscard]] auto by_saving(const piece& of) {
  return std::tuple(of.mends_out_of_memory, device_bytes(of), of.saves_capacity.value_or(0),
                    of.what.saves_host_bytes.value_or(0), of.what.saves_ns.value_or(0));
}

// A setting is cheaper than a change of the program, what was seen is safer than what was reckoned.
[[nodiscard]] auto by_effort(const piece& of) {
  return std::pair(of.what.how == proof::estimated, of.changes_program);
}

}  // namespace

bool is_worth_it(const piece& of, std::uint64_t least) {
  const auto enough = static_cast<std::int64_t>(least);
  return of.mends_out_of_memory || of.saves_bytes >= enough ||
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
             device_bytes(one) < most - most / equal_within;
    });
    if (most != 0) {
      std::stable_sort(first, equals, [](const piece& left, const piece& right) {
        return by_effort(left) < by_effort(right);
      });
    }
    first = equals;
  }
}

}  // namespace memtrace::advice
