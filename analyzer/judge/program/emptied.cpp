// SPDX-License-Identifier: Apache-2.0
//
// R3 and R6: after a known number of rounds the container is left with nothing.
//
//   if (step + 1) % 40 == 0:              for epoch in range(10):
//       self.outputs.clear()                  outputs = []
//                                             for batch in batches:        batches: a list of 50
//   if len(self.outputs) == 40:                   outputs.append(model(batch))
//       self.flush()
#include <algorithm>

#include "analyzer/judge/program/rules.h"
#include "analyzer/judge/program/unwritten.h"

namespace memtrace::program {

namespace {

[[nodiscard]] bool is_empty_value(const case_at_hand& in, const node& what) {
  const auto value = unwrapped(what);
  if (value.is("none")) return true;
  if (value.is_any({"list", "dictionary", "tuple", "set"})) return value.children().empty();
  // list(), dict(), deque(maxlen=3), defaultdict(list): a new one without what was there.
  if (!value.is("call") || !makes_container(in.file, value)) return false;
  const auto given = arguments_of(value);
  const auto name = value.field("function");
  const auto last = name.is("attribute") ? name.field("attribute").text() : name.text();
  const std::size_t factory = last == "defaultdict" ? 1 : 0;
  const auto places = static_cast<std::size_t>(
      std::ranges::count_if(given, [](const node& one) { return !one.is("keyword_argument"); }));
  const auto all = value.field("arguments").all();
  return places <= factory && std::ranges::none_of(all, [&](const node& part) {
           return means_any(in.file, part, in.uses);
         });
}

[[nodiscard]] bool empties(const case_at_hand& in, const use& one) {
  if (!one.certain || !runs_with_statement(one.at)) return false;
  return one.kind == use_kind::empty ||
         (one.kind == use_kind::assign && is_empty_value(in, one.value));
}

// Statements that stand in a block in any case: its own, and those of a `with` or `try` in it.
[[nodiscard]] bool stands_in(const node& statement, const node& block) {
  for (auto at = statement; at;) {
    if (at.parent() == block) return true;
    const auto outer = at.parent().parent();
    if (!at.parent().is("block") || !outer.is_any({"with_statement", "try_statement"}))
      return false;
    if (at.parent() != outer.field("body")) return false;
    at = outer;
  }
  return false;
}

[[nodiscard]] bool has_call(const node& in) {
  return std::ranges::any_of(in.all(), [](const node& one) { return one.is("call"); });
}

// Whether nothing may leave a block between a place and a statement that stands in it. `is_caught`:
// nor an error, after which the program goes on.
[[nodiscard]] bool is_reached(const node& statement, const node& block, std::uint32_t from,
                              bool is_caught) {
  for (auto at = statement; at && at != block; at = at.parent()) {
    for (const auto& before : at.parent().children()) {
      if (before.begin() >= at.begin()) break;
      if (before.end() <= from) continue;
      if (may_leave(before)) return false;
      if (is_caught && at.parent().is("block") && has_call(before)) return false;
    }
  }
  return true;
}

class emptyings {
 public:
  emptyings(const case_at_hand& in, const use& grows)
      : in_(in), grows_(grows), grown_(in.place_of(grows.what)) {}

  [[nodiscard]] std::optional<bound> find() const {
    for (const auto& one : in_.uses.all) {
      if (!empties(in_, one)) continue;
      const auto what = in_.place_of(one.what);
      if (in_.is_same(grown_, what)) {
        if (auto found = by(one.at, what)) return found;
      }
      // Where the function that empties it is called.
      const auto function = in_.file.function_of(one.at);
      if (!function || source_file::is_constructor(function) ||
          !stands_in(statement_of(one.at), function.field("body")) ||
          !is_reached(statement_of(one.at), function.field("body"), 0,
                      is_caught(in_.file, statement_of(one.at))) ||
          !runs_as_written(in_.file, function)) {
        continue;
      }
      in_.value.rely_on(function.field("name").text());
      for (const auto& call : in_.file.calls_of(function)) {
        const auto there = in_.at_call(what, call);
        if (!in_.is_same(grown_, there)) continue;
        if (auto found = by(call, there)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  // `what`: what is emptied there, which is what grows.
  [[nodiscard]] std::optional<bound> by(const node& empties, const place& what) const {
    if (auto found = by_condition(empties, what)) return found;
    return by_round(empties);
  }

  // if step % 40 == 0: …   if len(items) == 40: …
  [[nodiscard]] std::optional<bound> by_condition(const node& empties, const place& what) const {
    const auto statement = statement_of(empties);
    const auto condition = statement.parent().parent();
    if (!condition.is("if_statement") || statement.parent() != condition.field("consequence"))
      return std::nullopt;
    if (!in_.file.is_repeated(condition, in_.asked.running)) return std::nullopt;
    const auto facts = facts_of(condition.field("condition"), true);
    if (facts.size() != 1) return std::nullopt;  // `and` something else
    const auto& one = facts.front();
    // A length that is large enough once is so the next time, too.
    const bool comes_once = one.sign == "==" || one.sign.empty();
    const bool passes_over = comes_once && is_caught(in_.file, statement);
    if (!runs_with_statement(empties) ||
        !is_reached(statement, condition.field("consequence"), 0, is_caught(in_.file, statement)))
      return std::nullopt;
    const auto every = rounds_by(one);
    if (!every || !runs_each_round(condition, what)) return std::nullopt;
    // What leaves the round before it: of a length only after it has grown.
    const auto loops = loops_around(condition);
    const auto function = in_.file.function_of(condition);
    const auto block = loops.empty() ? function.field("body") : loops.front().field("body");
    const bool beside =
        in_.asks_for_length(one.condition) && in_.file.function_of(grows_.at) == function;
    if (block && !is_reached(condition, block, beside ? grows_.at.begin() : 0, passes_over))
      return std::nullopt;
    if (in_.asked.steps > static_cast<std::uint64_t>(2 * *every)) return std::nullopt;
    return case_at_hand::shown(bound_kind::emptied, one.condition, *every);
  }

  // The condition is come by in each round of the innermost loop around what grows, or stands
  // beside it.
  [[nodiscard]] bool runs_each_round(const node& condition, const place& what) const {
    const auto there = loops_around(condition);
    const auto here = loops_around(grows_.at);
    if (in_.file.function_of(condition) == in_.file.function_of(grows_.at)) {
      if (there.size() != here.size() || there != here) return false;
      const auto block = there.empty() ? in_.file.function_of(condition).field("body")
                                       : there.front().field("body");
      return stands_in(condition, block);
    }
    // In another function: that which calls the one that grows, in its loop.
    const auto function = in_.file.function_of(condition);
    const auto block = there.empty() ? function.field("body") : there.front().field("body");
    if (!stands_in(condition, block)) return false;
    const auto grown_in = in_.file.function_of(grows_.at);
    const auto calls = in_.file.calls_of(grown_in);
    if (there.empty()) {
      if (!function || !runs_as_written(in_.file, function)) return false;
      in_.value.rely_on(function.field("name").text());
      // Both are called in one loop, for one object.
      for (const auto& call : in_.file.calls_of(function)) {
        const auto around = loops_around(call);
        if (around.empty() || !stands_in(statement_of(call), around.front().field("body")))
          continue;
        for (const auto& other : calls) {
          if (loops_around(other) == around &&
              in_.is_same(in_.at_call(grown_, other), in_.at_call(what, call))) {
            return true;
          }
        }
      }
      return false;
    }
    return !calls.empty() && here.empty() && std::ranges::all_of(calls, [&](const node& call) {
      return loops_around(call) == there;
    });
  }

  [[nodiscard]] bool is_its_length(const node& what) const {
    return in_.is_same(grown_, in_.measured(what));
  }

  [[nodiscard]] std::optional<std::int64_t> rounds_by(const fact& one) const {
    if (one.sign == "==") {
      for (const auto& [left, right] :
           {std::pair(one.left, one.right), std::pair(one.right, one.left)}) {
        const auto value = in_.value.of(right);
        if (!value) continue;
        // What comes in pairs never has an odd length.
        if (is_its_length(left) && grows_.amount == use_amount::one && *value > 0 &&
            !in_.has_more_growth(grows_)) {
          return value;
        }
        const auto rest = unwrapped(left);
        if (!rest.is("binary_operator") || rest.field("operator").text() != "%") continue;
        const auto every = in_.value.of(rest.field("right"));
        if (every && *every > 0 && *value >= 0 && *value < *every &&
            counts(rest.field("left"), *value, *every))
          return every;
      }
      return std::nullopt;
    }
    if (one.sign.empty()) {  // if not step % 40:
      const auto rest = unwrapped(one.left);
      if (one.holds || !rest.is("binary_operator") || rest.field("operator").text() != "%")
        return std::nullopt;
      const auto every = in_.value.of(rest.field("right"));
      return every && *every > 0 && counts(rest.field("left"), 0, *every) ? every : std::nullopt;
    }
    // if len(items) >= 40: …
    const bool left = is_its_length(one.left);
    const bool right = !left && is_its_length(one.right);
    const bool above =
        left ? one.sign == ">=" || one.sign == ">" : one.sign == "<=" || one.sign == "<";
    if (!(left || right) || !above) return std::nullopt;
    const auto value = in_.value.of(left ? one.right : one.left);
    return value && *value > 0 ? value : std::nullopt;
  }

  // step, step + 1, self.step - 1
  [[nodiscard]] bool counts(const node& what, std::int64_t rest, std::int64_t every) const {
    auto inner = unwrapped(what);
    if (inner.is("binary_operator") &&
        (inner.field("operator").text() == "+" || inner.field("operator").text() == "-")) {
      if (!in_.value.of(inner.field("right"))) return false;
      inner = inner.field("left");
    }
    return in_.value.is_counter(inner) &&
           comes_by(inner, inner == unwrapped(what) && rest == 0, every);
  }

  // Whether a counter has each number in turn, and is not begun anew before it gets that far.
  [[nodiscard]] bool comes_by(const node& counter, bool at_first, std::int64_t every) const {
    for (const auto& loop : loops_around(counter)) {
      const auto targets = targets_of(loop.field("left"));
      if (!loop.is("for_statement") || targets.empty() || targets.front().text() != counter.text())
        continue;
      const auto through = unwrapped(loop.field("right"));
      if (through.field("function").text() == "range" && arguments_of(through).size() == 3)
        return false;
      const bool is_changed = std::ranges::any_of(
          in_.file.named(counter.text()),
          [&](const node& one) { return given_by(one) && one.is_in(loop.field("body")); });
      if (is_changed) return false;
      // With zero it is emptied where the loop begins, too.
      const bool from_zero = at_first && arguments_of(through).size() == 1;
      if (from_zero || !in_.file.is_repeated(loop, {}, source_file::calls_by::others_too))
        return true;
      const auto rounds = in_.value.rounds_of(loop);
      return rounds && *rounds >= every;
    }
    const bool is_attribute = counter.is("attribute");
    const auto last = (is_attribute ? counter.field("attribute") : counter).text();
    const auto owner = is_attribute ? node() : in_.file.owner_of(counter, last);
    if (in_.value.is_set_by_word(last) || is_given_unwritten(in_.file, counter)) return false;
    if (!is_attribute && source_file::has_parameter(owner, last)) return false;
    in_.value.rely_on(last);
    for (const auto& one : in_.file.named(last)) {
      const auto giver = given_by(one);
      if (!giver || one.kind() != counter.kind()) continue;
      if (!is_attribute && in_.file.owner_of(one, last) != owner) continue;
      if (giver.is("augmented_assignment")) {
        const bool beside = statement_of(giver).parent() == statement_of(grows_.at).parent();
        if (!beside && !facts_at(giver).empty()) return false;
        if (giver.field("right").text() != "1" || giver.field("operator").text() != "+=")
          return false;
      } else if (!giver.is("assignment") ||
                 (!source_file::is_constructor(in_.file.function_of(one)) &&
                  in_.file.is_repeated(one, {}, source_file::calls_by::others_too))) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::optional<bound> by_round(const node& empties) const {
    const auto rounds = rounds_until(empties);
    if (!rounds || is_past(*rounds)) return std::nullopt;
    return case_at_hand::shown(bound_kind::emptied, statement_of(empties), *rounds);
  }

 public:
  // It has grown in as many steps and was never emptied: what would do it did not come.
  [[nodiscard]] bool is_past(std::int64_t rounds) const {
    return in_.asked.steps + 1 >= static_cast<std::uint64_t>(rounds);
  }

  // In each round of a loop around the one in which it grows, or each call of a function that is
  // called again and again: after how many rounds; none: not known, or it is no such place.
  [[nodiscard]] std::optional<std::int64_t> rounds_until(const node& empties) const {
    const auto function = in_.file.function_of(empties);
    auto grows = grows_.at;
    if (in_.file.function_of(grows) != function) {
      // In a function that this one calls, at one place.
      const auto calls = all_calls_of(in_.file, in_.file.function_of(grows));
      if (!calls || calls->size() != 1 ||
          around(grows, {"lambda", "function_definition"}).is("lambda") ||
          !loops_around(grows).empty() || in_.file.function_of(calls->front()) != function) {
        return std::nullopt;
      }
      in_.value.rely_on(in_.file.function_of(grows).field("name").text());
      grows = calls->front();
    }
    const auto outer = loops_around(empties);
    const auto block = outer.empty() ? function.field("body") : outer.front().field("body");
    if (!block || !stands_in(statement_of(empties), block) ||
        !is_reached(statement_of(empties), block, grows.begin(),
                    is_caught(in_.file, statement_of(empties)))) {
      return std::nullopt;
    }
    // Without a loop around it, the function must come again.
    if (outer.empty()) {
      const auto calls = in_.file.calls_of(function);
      const bool comes_again = std::ranges::any_of(
          calls, [&](const node& call) { return in_.file.is_repeated(call, in_.asked.running); });
      if (!comes_again) return std::nullopt;
    }
    std::int64_t rounds = 1;
    node inner;
    const auto loops = loops_around(grows);
    for (const auto& loop : loops) {
      if (!outer.empty() && loop == outer.front()) {
        if (rounds > 1 || inner) return rounds;
        return std::nullopt;  // in each round: that is no growth of this container
      }
      const auto times = in_.value.rounds_of(loop);
      if (!times) return std::nullopt;
      rounds *= std::max<std::int64_t>(*times, 1);
      inner = loop;
    }
    if (!outer.empty() || !inner) return std::nullopt;
    return rounds;
  }

 private:
  const case_at_hand& in_;
  const use& grows_;
  place grown_;
};

}  // namespace

std::optional<bound> by_emptying(const case_at_hand& in, const use& grows) {
  return emptyings(in, grows).find();
}

bool emptying_is_past(const case_at_hand& in, const use& grows, const node& empties) {
  const emptyings all(in, grows);
  const auto rounds = all.rounds_until(empties);
  return rounds && all.is_past(*rounds);
}

}  // namespace memtrace::program
