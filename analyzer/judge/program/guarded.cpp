// SPDX-License-Identifier: Apache-2.0
//
// R2: the container gets longer only while it is shorter than a limit.
//
//   if len(self.items) < self.capacity:      if len(self.items) >= self.capacity:
//       self.items.append(x)                     return
//                                            self.items.append(x)
#include <algorithm>
#include <utility>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

// The condition is asked again in each round: `if len(items) < 40: items.extend(…)` is, and a loop
// within what depends on it is not.
[[nodiscard]] bool is_asked_each_time(const node& condition, const node& grows) {
  return std::ranges::all_of(loops_around(grows),
                             [&](const node& loop) { return condition.is_in(loop); });
}

// Whether a way out stands between two statements of a block.
[[nodiscard]] bool leaves_between(const node& first, const node& second) {
  return std::ranges::any_of(first.parent().children(), [&](const node& one) {
    return one.begin() > first.begin() && one.begin() < second.begin() && may_leave(one);
  });
}

// A number that counts what is put in, in place of the length:
//
//   if self.count < self.capacity:
//       self.count += 1
//       self.items.append(x)
//
// It begins with a number that is written down, and is never given another one.
[[nodiscard]] std::optional<std::int64_t> most_by_count(const case_at_hand& in, const fact& one,
                                                        const node& grows) {
  const bool below = one.sign == "<" || one.sign == "<=";
  const bool above = one.sign == ">" || one.sign == ">=";
  if (!below && !above) return std::nullopt;
  const auto count = unwrapped(below ? one.left : one.right);
  const auto limit = in.value.of(below ? one.right : one.left);
  if (!limit || !count.is_any({"identifier", "attribute"})) return std::nullopt;
  const auto last = count.is("attribute") ? count.field("attribute").text() : count.text();
  bool counted = false;
  const auto owner = in.file.owner_of(count, last);
  if (count.is("identifier") && source_file::has_parameter(owner, last)) return std::nullopt;
  for (const auto& other : in.file.named(last)) {
    if (other.kind() != count.kind()) continue;
    const auto parent = other.parent();
    if (parent.is("augmented_assignment") && parent.field("left") == other) {
      if (parent.field("operator").text() != "+=") return std::nullopt;
      const auto step = in.value.of(parent.field("right"));
      if (!step || *step < 1) return std::nullopt;
      // Beside what grows: neither runs without the other.
      const auto block = statement_of(parent).parent();
      counted = counted || (block == statement_of(grows).parent() && other.text() == count.text() &&
                            !leaves_between(statement_of(grows), statement_of(parent)));
      continue;
    }
    const auto pattern =
        parent.is_any({"pattern_list", "tuple_pattern"}) ? parent.parent() : parent;
    const bool is_target = pattern.is_any({"assignment", "for_statement", "named_expression"}) &&
                           (other.is_in(pattern.field("left")) || pattern.field("name") == other);
    if (is_target && (!pattern.is("assignment") ||
                      in.file.is_repeated(other, {}, source_file::calls_by::others_too)))
      return std::nullopt;
  }
  if (!counted) return std::nullopt;
  return one.sign == "<" || one.sign == ">" ? *limit - 1 : *limit;
}

}  // namespace

std::optional<bound> by_guard(const case_at_hand& in, const use& grows) {
  if (grows.amount != use_amount::one) return std::nullopt;
  const auto look = [&](const node& where) -> std::optional<bound> {
    for (const auto& one : facts_at(where)) {
      auto most = in.most_by(one, grows.what);
      if (!most) most = most_by_count(in, one, where);
      if (!most || !is_asked_each_time(one.condition, where)) continue;
      return case_at_hand::shown(bound_kind::length, one.condition, *most + 1);
    }
    return std::nullopt;
  };
  if (auto found = look(grows.at)) return found;
  // Every call of the function that it is in.
  const auto function = in.file.function_of(grows.at);
  if (!function || !loops_around(grows.at).empty() || runs_unnamed(function) ||
      around(grows.at, {"lambda", "function_definition"}).is("lambda")) {
    return std::nullopt;
  }
  const auto calls = in.file.calls_of(function);
  const auto mentions = in.file.named(function.field("name").text()).size();
  std::optional<bound> found;
  for (const auto& call : calls) {
    if (!runs_with_statement(call)) return std::nullopt;  // [put(x) for x in all]
    auto one = look(call);
    if (!one) return std::nullopt;
    if (!found || one->value > found->value) found = std::move(one);
  }
  // The definition names it, too; another use of the name may be a call that is not seen.
  return mentions == calls.size() + 1 ? found : std::nullopt;
}

}  // namespace memtrace::program
