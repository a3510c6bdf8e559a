// SPDX-License-Identifier: Apache-2.0
//
// Which growth is expected: of each suspect the share that expected names keep, then of a verdict
// what its suspects leave.
//
//   suspect ─┬─ its line is expected                        all of it
//            └─ retainers: `history` 24 KiB a step, expected   ┐ 24 of 25 KiB a step: nearly all
//                          `other`    1 KiB a step             ┘
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/bounded_growth.h"
#include "analyzer/judge/verdicts/suspects.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

// By number of the expectation: how much it explains.
using shares = std::vector<double>;

[[nodiscard]] double sum_of(const shares& all) {
  double sum = 0;
  for (const double one : all) sum += one;
  return sum;
}

// Where heap scans saw some of a suspect's retainers grow, the others did not.
[[nodiscard]] double weight_of(const retainer& held_by, bool by_growth) {
  return by_growth ? held_by.bytes_per_step : static_cast<double>(held_by.bytes);
}

class expected_finder {
 public:
  expected_finder(std::vector<used_expectation>& said, const trace::dictionary& names)
      : said_(said), names_(names) {}

  void look_at(verdict& about) {
    if (about.expected || !may_alarm(about)) return;
    found_.assign(said_.size(), 0);
    double left = 0;
    if (about.suspects.empty()) {
      left = of_subject(about);
    } else {
      for (auto* const some : {&about.suspects, &about.unnamed}) {
        for (auto& who : *some) left += look_at_suspect(who);
      }
    }
    if (sum_of(found_) <= 0) return;
    const bool is_all = growth::is_negligible(left, about.capacity_bytes);
    about.expected = made_of(found_, is_all);
    if (!is_all) put_others_first(about);
    for (std::size_t i = 0; i < said_.size(); ++i) said_[i].verdicts += found_[i] > 0 ? 1 : 0;
    about.summary += "; " + expected_words(about);
  }

 private:
  // It grows, or may: what is bounded alarms nobody.
  [[nodiscard]] static bool may_alarm(const verdict& about) {
    if (growth::is_leak(about.found.shape)) return true;
    return about.found.shape == growth::shape::unknown &&
           std::ranges::any_of(about.suspects,
                               [](const suspect& who) { return who.fills && !who.fills->settled; });
  }

  // What is left of a verdict that names no line.
  [[nodiscard]] double of_subject(const verdict& about) {
    const auto subject = verdicts::name_of(about.about);
    for (std::size_t i = 0; i < said_.size(); ++i) {
      if (!covers_subject(said_[i].said, subject)) continue;
      found_[i] = about.bytes_per_step;
      return 0;
    }
    return about.bytes_per_step;
  }

  // The bytes a step that are left of it, as far as they have no end.
  [[nodiscard]] double look_at_suspect(suspect& who) {
    if (who.fills && who.fills->settled) return 0;
    auto parts = shares_of(who);
    const double share = sum_of(parts);
    if (share <= 0) return who.bytes_per_step;
    const bool is_all = share >= most_of_growth;
    for (auto& one : parts) one *= is_all ? who.bytes_per_step / share : who.bytes_per_step;
    for (std::size_t i = 0; i < parts.size(); ++i) found_[i] += parts[i];
    who.expected = made_of(parts, is_all);
    return is_all ? 0 : who.bytes_per_step * (1 - share);
  }

  [[nodiscard]] shares shares_of(const suspect& who) const {
    shares made(said_.size(), 0);
    const std::array stacks = {code::frames_of(names_, who.stack),
                               code::frames_of(names_, who.forward)};
    for (std::size_t i = 0; i < said_.size(); ++i) {
      for (const auto& frames : stacks) {
        if (!covers(said_[i].said, frames)) continue;
        made[i] = 1;
        return made;
      }
    }
    const bool by_growth = std::ranges::any_of(
        who.retained_by, [](const retainer& one) { return one.bytes_per_step > 0; });
    double whole = 0;
    for (const auto& held_by : who.retained_by) whole += weight_of(held_by, by_growth);
    if (whole <= 0) return made;
    for (const auto& held_by : who.retained_by) {
      const auto first = std::ranges::find_if(
          said_, [&](const used_expectation& one) { return covers(one.said, held_by); });
      if (first == said_.end()) continue;
      made[static_cast<std::size_t>(first - said_.begin())] +=
          weight_of(held_by, by_growth) / whole;
    }
    return made;
  }

  [[nodiscard]] expected_growth made_of(const shares& parts, bool is_all) const {
    const auto largest = std::ranges::max_element(parts) - parts.begin();
    const auto& said = said_[static_cast<std::size_t>(largest)].said;
    return {said.by, said.why, said.file, said.line, sum_of(parts), is_all};
  }

  // A person looks at the first, and those that nobody expects may not have been named yet.
  static void put_others_first(verdict& about) {
    const auto is_left = [](const suspect& who) {
      if (who.fills && who.fills->settled) return false;
      return !who.expected || !who.expected->is_all;
    };
    std::vector<suspect> all = std::move(about.suspects);
    std::ranges::move(about.unnamed, std::back_inserter(all));
    about.unnamed.clear();
    std::vector<suspect> left;
    std::ranges::copy_if(all, std::back_inserter(left), is_left);
    about.suspects = suspects_of(left);
    std::ranges::copy_if(all, std::back_inserter(about.suspects),
                         [&](const suspect& who) { return !is_left(who); });
  }

  std::vector<used_expectation>& said_;
  const trace::dictionary& names_;
  shares found_;  // of the verdict at hand, in bytes a step
};

}  // namespace

std::string expected_words(const verdict& about) {
  if (!about.expected) return {};
  const auto& said = *about.expected;
  const auto place = fmt::format("said at {}:{}", text::file_name(said.file), said.line);
  const auto part = said.is_all ? std::string("expected")
                                : fmt::format("{} a {} of it are expected",
                                              text::format_bytes(static_cast<std::uint64_t>(
                                                  std::llround(said.bytes_per_step))),
                                              about.unit);
  if (said.why.empty()) return fmt::format("{} ({})", part, place);
  return fmt::format("{}: {} ({})", part, said.why, place);
}

void mark_expected(findings& found, const trace::dictionary& names) {
  if (found.expectations.empty()) return;
  expected_finder finder(found.expectations, names);
  for (auto& about : found.verdicts) finder.look_at(about);
}

}  // namespace memtrace::verdicts
