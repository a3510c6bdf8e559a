// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/rules.h"

#include <algorithm>
#include <array>
#include <utility>

namespace memtrace::program {

namespace {

[[nodiscard]] std::string_view opposite(std::string_view sign) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> pairs = {
      {{"<", ">="},
       {">=", "<"},
       {">", "<="},
       {"<=", ">"},
       {"==", "!="},
       {"!=", "=="},
       {"is", "is not"},
       {"is not", "is"},
       {"in", "not in"},
       {"not in", "in"}}};
  for (const auto& [one, other] : pairs) {
    if (sign == one) return other;
  }
  return {};
}

void take(const node& condition, const node& whole, bool is_true, std::vector<fact>& to,
          unsigned depth = 0) {
  constexpr unsigned deepest = 200;
  const auto what = unwrapped(condition);
  if (depth > deepest) return;
  if (what.is("not_operator")) return take(what.field("argument"), whole, !is_true, to, depth + 1);
  if (what.is("boolean_operator")) {
    // Of `a and b` nothing follows from its being false, of `a or b` nothing from its being true.
    if ((what.field("operator").text() == "and") != is_true) return;
    take(what.field("left"), whole, is_true, to, depth + 1);
    take(what.field("right"), whole, is_true, to, depth + 1);
    return;
  }
  if (what.is("comparison_operator")) {
    const auto parts = what.children();
    const auto signs = what.all_of_field("operators");
    if (parts.size() != signs.size() + 1 || (signs.size() != 1 && !is_true)) return;
    for (std::size_t i = 0; i < signs.size(); ++i) {
      const auto sign = is_true ? signs[i].text() : opposite(signs[i].text());
      if (!opposite(sign).empty()) to.push_back({parts[i], sign, parts[i + 1], true, whole});
    }
    return;
  }
  to.push_back({what, {}, {}, is_true, whole});
}

// Whether a block ends by leaving.
[[nodiscard]] bool leaves(const node& block) {
  const auto all = block.children();
  return !all.empty() && all.back().is_any({"return_statement", "continue_statement",
                                            "break_statement", "raise_statement"});
}

}  // namespace

std::vector<fact> facts_of(const node& condition, bool is_true) {
  std::vector<fact> made;
  take(condition, condition, is_true, made);
  return made;
}

bool runs_with_statement(const node& what) {
  const auto statement = statement_of(what);
  for (auto below = what, at = what.parent(); at && below != statement;
       below = at, at = at.parent()) {
    if (at.is_any({"lambda", "list_comprehension", "set_comprehension", "dictionary_comprehension",
                   "generator_expression"})) {
      return false;
    }
    if (at.is("boolean_operator") && below != at.field("left")) return false;
    if (at.is("conditional_expression") && below != at.child(1)) return false;
  }
  return true;
}

bool may_leave(const node& statement) {
  return std::ranges::any_of(statement.all(), [&](const node& one) {
    if (one.is_any({"return_statement", "raise_statement"})) return true;
    if (!one.is_any({"continue_statement", "break_statement"})) return false;
    const auto loops = loops_around(one);
    return loops.empty() || !loops.front().is_in(statement);
  });
}

std::vector<fact> facts_at(const node& what) {
  std::vector<fact> made;
  const auto add = [&](const node& condition, bool is_true) {
    const auto more = facts_of(condition, is_true);
    made.insert(made.end(), more.begin(), more.end());
  };
  for (auto below = what, at = what.parent(); at; below = at, at = at.parent()) {
    if (at.is_any({"if_statement", "while_statement", "elif_clause"})) {
      const auto body = at.is("while_statement") ? at.field("body") : at.field("consequence");
      if (below == body) add(at.field("condition"), true);
      if (at.is("if_statement") && below != body && below != at.field("condition")) {
        add(at.field("condition"), false);
        // And of each `elif` before it.
        for (const auto& other : at.all_of_field("alternative")) {
          if (other == below) break;
          if (other.is("elif_clause")) add(other.field("condition"), false);
        }
      }
    } else if (at.is("conditional_expression")) {
      const auto parts = at.children();  // value, condition, other
      if (parts.size() == 3 && below == parts[0]) add(parts[1], true);
      if (parts.size() == 3 && below == parts[2]) add(parts[1], false);
    } else if (at.is_any({"block", "module"})) {
      for (const auto& before : at.children()) {
        if (before == below) break;
        if (before.is("if_statement") && before.all_of_field("alternative").empty() &&
            leaves(before.field("consequence"))) {
          add(before.field("condition"), false);
        } else if (before.is("assert_statement")) {
          add(before.child(0), true);
        }
      }
    }
    if (at.is_any({"function_definition", "lambda", "class_definition"})) break;
  }
  return made;
}

}  // namespace memtrace::program
