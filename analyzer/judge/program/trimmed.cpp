// SPDX-License-Identifier: Apache-2.0
//
// R3: whenever the container has become longer, what is above a limit is taken out again.
//
//   self.items.append(x)                  while self.items and len(self.items) >= LIMIT:
//   if len(self.items) > self.capacity:       self.items.popitem(last=False)
//       self.items.pop(0)                 self.items[key] = x
//   items = items[-window:]
//
// The statement must be reached each time: it stands beside the other one, or beside something that
// the other one is in, with no way out between them; in the same function, in one that it calls, or in
// the caller. Between them there may be a loop through a list that was made for it, after which all
// that is too much is taken out. A limit may be one of the program's own count:
//
//   self.items[key] = x
//   self.tokens += x.size
//   while self.tokens > self.budget:
//       old = self.items.popitem()[1]
//       self.tokens -= old.size
#include <algorithm>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

struct trim {
  std::int64_t most = 0;
  node said_by;
  bool is_counted = false;  // `most` is of the program's own count
};

[[nodiscard]] bool has_exit(const node& in, std::uint32_t after) {
  return std::ranges::any_of(in.all(), [&](const node& one) {
    return one.begin() > after &&
           one.is_any({"return_statement", "continue_statement", "break_statement",
                       "raise_statement", "yield", "await"});
  });
}

[[nodiscard]] bool has_call(const node& in) {
  return std::ranges::any_of(in.all(), [](const node& one) { return one.is("call"); });
}

const std::initializer_list<std::string_view> comprehensions = {
    "list_comprehension", "generator_expression", "set_comprehension", "dictionary_comprehension"};

// What has grown, as the function names it that is looked at, and the calls by which one is looked at
// that this one calls, the outermost first.
struct view {
  place grown;
  std::vector<node> calls = {};
  bool is_caught = false;  // an error passes over what follows, and the program goes on
  bool by_many = false;    // it has grown by as many as a loop had rounds
};

// Whether what a loop goes through was made in its function, and has so many elements as are there:
// a loop over a loader may be the program's whole run.
[[nodiscard]] bool is_made_at_once(const source_file& file, const node& what, unsigned depth = 0) {
  constexpr unsigned deepest = 4;
  if (depth > deepest) return false;
  if (what.is_any({"list", "tuple", "set", "dictionary", "list_comprehension", "set_comprehension",
                   "dictionary_comprehension"})) {
    return true;
  }
  if (what.is("identifier")) {
    const auto function = file.owner_of(what, what.text());
    if (!function || source_file::has_parameter(function, what.text())) return false;
    const auto& all = file.named(what.text());
    return std::ranges::all_of(all, [&](const node& one) {
      const auto by = given_by(one);
      if (!by || file.owner_of(one, what.text()) != function) return true;
      return by.is("assignment") && by.field("left") == one &&
             is_made_at_once(file, by.field("right"), depth + 1);
    });
  }
  const auto function = what.field("function");
  if (!what.is("call") || !file.is_of_python(function)) return false;
  const auto name = function.text();
  const auto given = arguments_of(what);
  const auto is_made = [&](const node& one) { return is_made_at_once(file, one, depth + 1); };
  if (name == "zip") return std::ranges::any_of(given, is_made);  // as long as the shortest
  return (name == "enumerate" || name == "reversed") && !given.empty() && is_made(given.front());
}

class trims {
 public:
  trims(const case_at_hand& in, const use& grows) : in_(in), grows_(grows) {}

  [[nodiscard]] std::optional<trim> beside(const node& what, const place& grown,
                                           unsigned depth) const {
    constexpr unsigned deepest = 2;
    auto found = in_function(what, grown);
    if (found || depth == deepest) return found;
    const auto function = in_.file.function_of(what);
    if (!function || !loops_around(what).empty()) return std::nullopt;
    const auto calls = all_calls_of(in_.file, function);
    if (!calls || in_.file.runs_later(function)) return std::nullopt;
    in_.value.rely_on(function.field("name").text());
    for (const auto& call : *calls) {
      if (!runs_with_statement(call)) return std::nullopt;  // [put(x) for x in all]
      const bool in_one =
          around(call, comprehensions) && around(call, comprehensions).is_in(statement_of(call));
      const auto caller = in_.file.function_of(call);
      const auto together = std::ranges::count_if(
          *calls, [&](const node& other) { return in_.file.function_of(other) == caller; });
      if (in_one || together > 1) return std::nullopt;  // several come for what one takes out
      found = beside(call, in_.at_call(grown, call), depth + 1);
      if (!found) return std::nullopt;
    }
    return found;
  }

 private:
  [[nodiscard]] std::optional<trim> in_function(const node& what, const place& grown) const {
    view from{grown, {}, is_caught(in_.file, statement_of(what)), false};
    for (auto below = statement_of(what); below; below = statement_of(below.parent())) {
      const auto block = below.parent();
      bool before = true;
      bool way_out = false;
      for (const auto& statement : block.children()) {
        if (statement == below) {
          before = false;
          way_out = has_exit(below, what.end());
          continue;
        }
        if (!before && way_out) break;
        if (before && from.by_many) continue;
        if (auto found = trim_by(statement, from)) {
          // It makes room, and then one comes.
          if (before && grows_.amount == use_amount::one && !found->is_counted) ++found->most;
          return found;
        }
        way_out = way_out ||
                  (!before && (has_exit(statement, 0) || (from.is_caught && has_call(statement))));
      }
      const auto around_it = block.parent();
      // A loop's body runs again and again before what follows it does.
      if (!around_it ||
          around_it.is_any({"function_definition", "while_statement", "class_definition"}) ||
          (around_it.is("for_statement") && !is_short(around_it))) {
        break;
      }
      if (!around_it.is("for_statement")) continue;
      from.by_many = true;
      // What is called in the loop after it may raise an error that somebody further out catches.
      const auto rest = around_it.all();
      const bool may_raise = std::ranges::any_of(rest, [&](const node& one) {
        return one.is_any({"call", "raise_statement", "assert_statement"}) &&
               one.begin() > what.end() && one.end() <= around_it.end();
      });
      if (may_raise) break;
    }
    return std::nullopt;
  }

  // A loop that runs again and again, each time through something that was made for it.
  [[nodiscard]] bool is_short(const node& loop) const {
    return is_made_at_once(in_.file, loop.field("right")) &&
           in_.file.is_repeated(loop, in_.asked.running);
  }

  // Whether a use is about what has grown, in any case.
  [[nodiscard]] bool is_of(const use& one, const view& from) const {
    if (!one.certain || !runs_with_statement(one.at)) return false;
    auto here = in_.place_of(one.what);
    for (auto call = from.calls.rbegin(); call != from.calls.rend(); ++call)
      here = in_.at_call(here, *call);
    return in_.is_same(from.grown, here);
  }

  // items.remove(x), del items[x]: it may not be there, and somebody catches that.
  [[nodiscard]] static bool may_miss(const use& one, const view& from) {
    const auto key =
        one.at.is("call") ? one.at.field("arguments").child(0) : one.at.child(0).field("subscript");
    const bool fixed = !key || key.is_any({"integer", "unary_operator", "keyword_argument"});
    if (fixed) return false;
    return from.is_caught ||
           around(one.at, {"try_statement", "with_statement", "function_definition"})
               .is_any({"try_statement", "with_statement"});
  }

  // Whether one of the statements of a block, in any case, takes out enough.
  [[nodiscard]] bool takes_out(const node& block, bool again_and_again, const view& from) const {
    for (const auto& statement : block.children()) {
      for (const auto& one : in_.uses.all) {
        if (statement_of(one.at) != statement || !is_of(one, from)) continue;
        if (one.kind == use_kind::empty) return true;
        if (one.kind == use_kind::shrink && one.amount == use_amount::one && !may_miss(one, from) &&
            (again_and_again ||
             (!from.by_many && grows_.amount == use_amount::one && !in_.has_more_growth(grows_)))) {
          // In a loop, what leaves it after that leaves the others.
          return !again_and_again || !has_exit(block, 0);
        }
      }
      if (has_exit(statement, 0) || (from.is_caught && has_call(statement))) return false;
    }
    return false;
  }

  [[nodiscard]] std::optional<trim> trim_by(const node& statement, const view& from,
                                            unsigned nested = 0) const {
    constexpr unsigned most_nested = 20;  // Python allows no more
    if (nested > most_nested) return std::nullopt;
    if (statement.is_any({"if_statement", "while_statement"})) return conditional(statement, from);
    if (statement.is_any({"with_statement", "try_statement"})) {
      auto inside = from;
      for (const auto& inner : statement.field("body").children()) {
        inside.is_caught = inside.is_caught || is_caught(in_.file, inner);
        if (auto found = trim_by(inner, inside, nested + 1)) return found;
        if (may_leave(inner) || (inside.is_caught && has_call(inner))) break;
      }
      return std::nullopt;
    }
    for (const auto& one : in_.uses.all) {
      if (statement_of(one.at) != statement || !is_of(one, from)) continue;
      if (auto most = cut_to(one)) return trim{*most, statement, false};
    }
    return by_call(statement, from);
  }

  // items = items[-40:], del items[:-40]
  [[nodiscard]] std::optional<std::int64_t> cut_to(const use& one) const {
    if (one.kind == use_kind::cut) return positive(in_.value.of(one.limit));
    if (one.kind != use_kind::assign) return std::nullopt;
    const auto cut = by_slice(in_, one);
    return cut ? std::optional(static_cast<std::int64_t>(cut->value)) : std::nullopt;
  }

  [[nodiscard]] static std::optional<std::int64_t> positive(std::optional<std::int64_t> value) {
    return value && *value > 0 ? value : std::nullopt;
  }

  [[nodiscard]] std::optional<trim> conditional(const node& statement, const view& from) const {
    const auto condition = statement.field("condition");
    // Where it does not hold, the container is no longer than that.
    auto facts = facts_of(condition, false);
    for (auto& one : facts) one.calls = from.calls;
    const auto most = in_.most_by(facts, from.grown);
    const bool loops = statement.is("while_statement");
    const auto body = loops ? statement.field("body") : statement.field("consequence");
    if (most && takes_out(body, loops, from)) return trim{*most, condition, false};
    if (!most && loops && takes_out(body, true, from)) {
      if (const auto counted = most_counted(statement, from))
        return trim{*counted, condition, true};
    }
    if (!most) return std::nullopt;
    for (const auto& one : in_.uses.all) {
      if (statement_of(one.at).parent() != body || !is_of(one, from)) continue;
      const bool left_before = std::ranges::any_of(body.children(), [&](const node& before) {
        return before.begin() < statement_of(one.at).begin() &&
               (may_leave(before) || (from.is_caught && has_call(before)));
      });
      if (left_before) continue;
      if (const auto cut = cut_to(one)) return trim{std::max(*most, *cut), condition, false};
    }
    return std::nullopt;
  }

  // while self.tokens > self.budget: something is taken out, and counted down. What grows is counted
  // beside it, and by what the heap scan saw the limit holds.
  [[nodiscard]] std::optional<std::int64_t> most_counted(const node& loop, const view& from) const {
    if (!from.calls.empty()) return std::nullopt;
    for (const auto& one : facts_of(loop.field("condition"), false)) {
      if (!one.sign.starts_with('<') && !one.sign.starts_with('>')) continue;
      const bool on_left = one.sign.starts_with('<');
      const auto count = on_left ? one.left : one.right;
      if (!count.is("attribute")) continue;
      const auto most = in_.value.of(on_left ? one.right : one.left);
      const auto now = seen_numbers(in_.asked.numbers).of(count.field("attribute").text(), true);
      const bool holds = most && now && *now > 0 && *now <= *most && !is_reset(count);
      if (!holds) continue;
      const auto up = changes(count, "+=", grows_.at, loop.begin());
      const auto down = changes(count, "-=", loop, loop.end());
      if (up.size() == 1 && down.size() == 1 && is_alike(up.front(), down.front())) return most;
    }
    return std::nullopt;
  }

  // Whether somebody gives it a new value who does not make the object.
  [[nodiscard]] bool is_reset(const node& number) const {
    const auto& all = in_.file.named(number.field("attribute").text());
    return std::ranges::any_of(all, [&](const node& one) {
      const auto by = one.is("attribute") ? given_by(one) : node();
      return by && !by.is("augmented_assignment") &&
             !source_file::is_constructor(in_.file.function_of(by));
    });
  }

  // By what the number is changed beside a statement, or in a loop, up to here.
  [[nodiscard]] std::vector<node> changes(const node& number, std::string_view sign,
                                          const node& near, std::uint32_t end) const {
    std::vector<node> found;
    const auto& all = in_.file.named(number.field("attribute").text());
    const auto block =
        near.is("while_statement") ? near.field("body") : statement_of(near).parent();
    for (const auto& one : all) {
      const auto by = one.parent();
      const bool is_it = by.is("augmented_assignment") && by.field("left") == one &&
                         one.flat_text() == number.flat_text() &&
                         statement_of(by).parent() == block && by.end() <= end &&
                         by.field("operator").text() == sign;
      if (is_it) found.push_back(by.field("right"));
    }
    return found;
  }

  // cache.size() and oldest.size(), 1 and 1: the same of two elements.
  [[nodiscard]] static bool is_alike(const node& one, const node& other) {
    const auto ours = one.all();
    const auto theirs = other.all();
    bool is_object = true;  // the first name is the element's
    for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
      if (ours[i].kind() != theirs[i].kind()) return false;
      if (!ours[i].children().empty() || ours[i].text() == theirs[i].text()) continue;
      if (!ours[i].is("identifier") || !is_object) return false;
      is_object = false;
    }
    return ours.size() == theirs.size();
  }

  // A call of a function of the file that does it.
  [[nodiscard]] std::optional<trim> by_call(const node& statement, const view& from) const {
    constexpr std::size_t deepest = 2;
    if (from.calls.size() >= deepest || !statement.is("expression_statement")) return std::nullopt;
    const auto call = statement.child(0);
    const auto function = call.is("call") ? in_.file.callee(call) : node();
    if (!function || grows_.at.is_in(function) || !runs_as_written(in_.file, function))
      return std::nullopt;
    in_.value.rely_on(function.field("name").text());
    auto inside = from;
    inside.calls.push_back(call);
    for (const auto& inner : function.field("body").children()) {
      if (auto found = trim_by(inner, inside)) return found;
      if (has_exit(inner, 0) || (inside.is_caught && has_call(inner))) break;
    }
    return std::nullopt;
  }

  const case_at_hand& in_;
  const use& grows_;
};

}  // namespace

std::optional<bound> by_trim(const case_at_hand& in, const use& grows) {
  if (around(grows.at, {"lambda", "function_definition"}).is("lambda")) return std::nullopt;
  const auto found = trims(in, grows).beside(grows.at, in.place_of(grows.what), 0);
  if (!found) return std::nullopt;
  const auto kind = found->is_counted ? bound_kind::counted : bound_kind::length;
  return case_at_hand::shown(kind, found->said_by, found->most);
}

}  // namespace memtrace::program
