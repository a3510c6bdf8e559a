// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/rules.h"
#include "analyzer/judge/program/unwritten.h"

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

bool runs_as_written(const source_file& file, const node& function) {
  if (file.runs_later(function)) return false;
  const auto& name = function.field("name").text();
  const auto& words = file.quoted(name);  // setattr(Store, "trim", another), patch.object(…)
  if (std::ranges::any_of(words, [](const node& one) { return one.parent().is("argument_list"); }))
    return false;
  const bool is_replaced = std::ranges::any_of(
      file.named(name), [](const node& one) { return static_cast<bool>(given_by(one)); });
  if (is_replaced) return false;
  const auto whole = function.parent();
  if (!whole.is("decorated_definition")) return true;
  return std::ranges::all_of(whole.children(), [&](const node& one) {
    if (!one.is("decorator")) return true;
    auto first = one.child(0);
    if (first.is("call")) first = first.field("function");
    while (first.is("attribute")) first = first.field("object");
    if (file.package_of(first.text()) == "torch") return true;  // @torch.no_grad()
    const bool of_python = first.text() == "staticmethod" || first.text() == "classmethod" ||
                           first.text() == "property";
    return of_python && file.is_of_python(first);
  });
}

std::optional<std::vector<node>> all_calls_of(const source_file& file, const node& function) {
  const bool makes = source_file::is_constructor(function);
  if (!function || (runs_unnamed(function) && !makes)) return std::nullopt;
  const auto whose = function.scope();
  if (makes && !whose.is("class_definition")) return std::nullopt;
  const auto name = (makes ? whose : function).field("name").text();
  const auto definitions = (makes ? file.classes(name) : file.functions(name)).size();
  auto calls = file.calls_of(function);
  const auto mentions = std::ranges::count_if(file.named(name), [](const node& one) {
    return !around(one, {"type", "block"}).is("type");  // store: Store
  });
  if (calls.empty() || static_cast<std::size_t>(mentions) != calls.size() + definitions)
    return std::nullopt;
  if (!file.quoted(name).empty() || is_called_unwritten(file, function)) return std::nullopt;
  const auto whole = function.parent();
  const bool is_given_away = whole.is("decorated_definition") && !runs_as_written(file, function);
  if (is_given_away || is_decorated_with(function, "property")) return std::nullopt;
  // cls(…), of this class or of one that derives from it.
  if (makes && file.is_made_by_others(name)) return std::nullopt;
  return calls;
}

namespace {

[[nodiscard]] bool catches(const node& statement) {
  const auto parts = statement.children();
  return std::ranges::any_of(parts, [](const node& part) {
    if (!part.is_any({"except_clause", "except_group_clause"})) return false;
    const auto block = part.children();
    const auto last = block.empty() ? node() : block.back();
    const auto all = last.is("block") ? last.children() : std::vector<node>();
    return all.empty() || !all.back().is("raise_statement");
  });
}

// with suppress(ValueError), and contexts of the file that keep errors back.
[[nodiscard]] bool keeps_errors_back(const source_file& file, const node& statement) {
  return std::ranges::any_of(statement.child(0).all(), [&](const node& one) {
    if (!one.is("call")) return false;
    const auto function = one.field("function");
    const auto name =
        function.is("attribute") ? function.field("attribute").text() : function.text();
    if (name == "suppress") return true;
    for (const auto& exits : file.functions("__exit__")) {
      if (exits.scope().field("name").text() != name) continue;
      const auto all = exits.field("body").all();
      const bool may = std::ranges::any_of(all, [](const node& part) {
        const auto value = part.is("return_statement") ? part.child(0) : node();
        return value && !value.is_any({"false", "none"});
      });
      if (may) return true;
    }
    for (const auto& context : file.functions(name)) {
      const auto all = context.field("body").all();
      if (std::ranges::any_of(
              all, [](const node& part) { return part.is("try_statement") && catches(part); }))
        return true;
    }
    return false;
  });
}

[[nodiscard]] bool is_caught_below(const source_file& file, const node& statement, unsigned depth) {
  constexpr unsigned highest = 3;
  for (auto below = statement, at = statement.parent(); at; below = at, at = at.parent()) {
    if (at.is_any({"function_definition", "lambda"})) break;
    if (below != at.field("body")) continue;
    const bool goes_on = (at.is("try_statement") && catches(at)) ||
                         (at.is("with_statement") && keeps_errors_back(file, at));
    // One around all of the program's rounds ends them.
    if (goes_on && file.is_repeated(at, {}, source_file::calls_by::others_too)) return true;
  }
  const auto function = file.function_of(statement);
  if (!function || depth == highest) return false;
  const auto calls = file.calls_of(function);
  return std::ranges::any_of(calls, [&](const node& call) {
    return file.function_of(call) != function && is_caught_below(file, call, depth + 1);
  });
}

}  // namespace

bool is_caught(const source_file& file, const node& statement) {
  return is_caught_below(file, statement, 0);
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
