// SPDX-License-Identifier: Apache-2.0
//
// The length of a container in the conditions of a program.
#include <algorithm>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

constexpr unsigned deepest = 3;

// The one expression that a function returns; none: it returns several, or does more.
[[nodiscard]] node only_result(const node& function) {
  node found;
  for (const auto& one : function.field("body").all()) {
    if (!one.is("return_statement")) continue;
    if (found) return {};
    found = one.child(0);
  }
  return found;
}

}  // namespace

bool runs_unnamed(const node& function) {
  const auto name = function.field("name").text();
  return name == "forward" || (name.starts_with("__") && name.ends_with("__"));
}

std::string case_at_hand::path_of(const node& expression, unsigned depth) const {
  const auto what = unwrapped(expression);
  constexpr unsigned longest = 24;
  if (depth > longest) return what.flat_text();
  if (what.is("identifier") && !file.is_self(what)) {
    const auto given = value.only_value_of(what);
    const bool is_name = given.is_any({"attribute", "subscript", "identifier"});
    if (is_name && file.function_of(given) == file.function_of(what))
      return path_of(given, depth + 1);
  }
  if (what.is("attribute"))
    return path_of(what.field("object"), depth + 1) + "." +
           std::string(what.field("attribute").text());
  if (what.is("subscript"))
    return path_of(what.field("value"), depth + 1) + "[" + what.field("subscript").flat_text() +
           "]";
  if (what.is("call") && what.field("function").is("attribute")) {  // groups.setdefault(key, [])
    const auto method = what.field("function");
    const auto name = method.field("attribute").text();
    if (name == "get" || name == "setdefault") {
      return path_of(method.field("object"), depth + 1) + "[" +
             what.field("arguments").child(0).flat_text() + "]";
    }
  }
  return what.flat_text();
}

case_at_hand::paths case_at_hand::paths_of(const node& what) const {
  struct seen {
    node function;
    std::string path;
    unsigned depth;
  };
  constexpr std::size_t most = 200;
  paths made;
  std::vector<seen> waiting{{file.function_of(what), path_of(what), 0}};
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto now = waiting[i];  // the list gets longer
    made[now.function ? now.function.begin() + 1 : 0].insert(now.path);
    if (!now.function || now.depth == 2) continue;
    const auto end = std::min(now.path.find_first_of(".["), now.path.size());
    const auto root = now.path.substr(0, end);
    const auto rest = now.path.substr(end);
    const bool of_class =
        around(now.function, {"function_definition", "class_definition"}).is("class_definition");
    const auto parameters = now.function.field("parameters").children();
    const bool is_self = of_class && !parameters.empty() && parameters.front().text() == root;
    for (const auto& call : file.calls_of(now.function)) {
      if (waiting.size() >= most) return {};  // too many to tell
      node given;
      if (is_self) {
        given = call.field("function").field("object");
      } else if (source_file::has_parameter(now.function, root)) {
        for (const auto& one : arguments_of(call)) {
          if (file.parameter_for(now.function, call, one) == root)
            given = one.is("keyword_argument") ? one.field("value") : one;
        }
      } else if (!file.binds(now.function, root)) {
        waiting.push_back({file.function_of(call), now.path, now.depth + 1});
      }
      if (given) waiting.push_back({file.function_of(call), path_of(given) + rest, now.depth + 1});
    }
  }
  return made;
}

bool case_at_hand::is_same(const node& one, const node& other) const {
  if (!one || !other) return false;
  const auto here = paths_of(one);
  const auto there = paths_of(other);
  bool shared = false;
  for (const auto& [function, all] : here) {
    const auto at = there.find(function);
    if (at == there.end()) continue;
    shared = true;
    for (const auto& path : all) {
      const bool found = std::ranges::any_of(at->second, [&](const std::string& same) {
        return path == same || path.starts_with(same + ".");
      });
      if (!found) return false;
    }
  }
  if (shared) return true;
  if (here.empty() || there.empty()) return false;
  auto first = one;
  while (first.is_any({"attribute", "subscript"}))
    first = first.field(first.is("attribute") ? "object" : "value");
  const auto owner = file.owner_of(first, first.text());
  return path_of(one) == path_of(other) && (!owner || owner != file.function_of(one));
}

bool case_at_hand::has_more_growth(const use& than) const {
  return std::ranges::any_of(uses.all, [&](const use& other) {
    if (other.at == than.at || (other.kind != use_kind::grow && other.kind != use_kind::put))
      return false;
    if (source_file::is_constructor(file.function_of(other.at))) return false;
    // In the other branch.
    for (auto below = than.at, at = than.at.parent(); at; below = at, at = at.parent()) {
      if (!other.at.is_in(at)) continue;
      return !at.is("if_statement");
    }
    return true;
  });
}

node case_at_hand::measured(const node& expression, unsigned depth) const {
  const auto what = unwrapped(expression);
  if (!what || depth > deepest) return {};
  for (const auto& one : uses.all) {
    if (one.kind == use_kind::measure && one.at == what) return one.what;
  }
  if (what.is("subscript") && what.field("value").is("attribute")) {  // items.shape[0]
    const auto shape = what.field("value");
    const bool is_it = shape.field("attribute").text() == "shape" &&
                       means_any(file, shape.field("object"), uses) &&
                       may_be_joined_axis(*this, what.field("subscript"));
    return is_it ? shape.field("object") : node();
  }
  if (what.is("call") && what.field("function").is("attribute")) {  // items.size(0)
    const auto method = what.field("function");
    const auto name = method.field("attribute").text();
    const auto axis = what.field("arguments").child(0);
    const bool fits =
        name == "numel" || (name == "size" && (!axis || may_be_joined_axis(*this, axis)));
    if (fits && means_any(file, method.field("object"), uses)) return method.field("object");
  }
  if (what.is("call") && what.field("function").text() == "len") {
    // len(self): of the class that has the container.
    for (const auto& method : file.functions("__len__")) {
      const auto whose = file.class_of(method).field("name").text();
      const auto argument = what.field("arguments").child(0);
      const bool own = !file.is_self(argument) ||
                       file.are_related(file.class_of(argument).field("name").text(), whose);
      const bool of_holder = asked.holder.empty() || file.are_related(whose, asked.holder);
      if (own && of_holder && measured(only_result(method), depth + 1)) return argument;
    }
    return {};
  }
  if (what.is("call")) {
    const auto function = file.callee(what);
    return function ? measured(only_result(function), depth + 1) : node();
  }
  if (what.is("identifier")) {  // count = len(items)
    const auto value_of_it = value.only_value_of(what);
    const bool is_here = value_of_it && file.function_of(value_of_it) == file.function_of(what) &&
                         loops_around(value_of_it) == loops_around(statement_of(what));
    return is_here ? measured(value_of_it, depth + 1) : node();
  }
  return {};
}

std::optional<std::int64_t> case_at_hand::most_by(const fact& one, const node& of) const {
  const auto on_left = measured(one.left);
  const bool left = static_cast<bool>(on_left);
  if (one.sign.empty()) {
    // `while items:` and `if not items:` leave nothing where they do not hold.
    const bool empty = !one.holds && (left || means_any(file, one.left, uses)) &&
                       is_same(of, left ? on_left : one.left);
    return empty ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  const auto length = left ? on_left : measured(one.right);
  if (!length || !is_same(of, length)) return std::nullopt;
  const auto limit = value.of(left ? one.right : one.left);
  if (!limit) return std::nullopt;
  const bool below = left ? one.sign == "<" : one.sign == ">";
  const bool at_most = one.sign == "==" || (left ? one.sign == "<=" : one.sign == ">=");
  if (below) return *limit - 1;
  return at_most ? limit : std::nullopt;
}

std::optional<std::int64_t> case_at_hand::most_by(const std::vector<fact>& facts,
                                                  const node& of) const {
  std::optional<std::int64_t> least;
  for (const auto& one : facts) {
    const auto most = most_by(one, of);
    if (most && (!least || *most < *least)) least = most;
  }
  return least;
}

bool case_at_hand::asks_for_length(const node& condition) const {
  return std::ranges::any_of(condition.all(), [&](const node& one) { return is_length(one); });
}

bound case_at_hand::shown(bound_kind kind, const node& by, std::int64_t value) {
  constexpr std::size_t longest = 120;
  auto text = by.flat_text();
  if (text.size() > longest) text = text.substr(0, longest) + "…";
  return {kind,
          {},
          by.line(),
          std::move(text),
          static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0))};
}

}  // namespace memtrace::program
