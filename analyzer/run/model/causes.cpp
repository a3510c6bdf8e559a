// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/causes.h"

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/judge/verdicts/retainer_words.h"
#include "memtrace/trace_format.h"

namespace memtrace::run {

namespace {

// A suspect that nobody is known to keep is its own cause.
[[nodiscard]] std::string key_of(const verdicts::suspect& who) {
  const auto fix = who.fix ? who.fix->id : std::string();
  if (who.retained_by.empty()) return "site " + std::to_string(who.site);
  const auto& held_by = who.retained_by.front();
  if ((held_by.flags & format::held_unreachable) != 0) return fix + " nothing";
  return fix + '\n' + verdicts::variable_of(held_by) + '\n' + held_by.owner + '\n' + held_by.file;
}

}  // namespace

std::vector<cause> causes_of(const verdicts::verdict& given) {
  std::map<std::string, cause> by_key;
  for (const auto& who : given.suspects) {
    auto& one = by_key[key_of(who)];
    if (one.largest == nullptr || who.bytes_per_step > one.largest->bytes_per_step) {
      one.largest = &who;
    }
    ++one.sites;
    one.share += who.share;
    one.bytes_per_step += who.bytes_per_step;
    one.bytes += who.bytes;
  }
  std::vector<cause> all;
  for (const auto& [key, one] : by_key) all.push_back(one);
  std::ranges::stable_sort(all, std::greater(), &cause::bytes_per_step);
  return all;
}

}  // namespace memtrace::run
