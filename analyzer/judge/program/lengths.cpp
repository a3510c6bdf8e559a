// SPDX-License-Identifier: Apache-2.0
//
// The length of a container in the conditions of a program, and which container that is.
#include <algorithm>
#include <utility>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

constexpr unsigned deepest = 3;
constexpr unsigned longest_path = 24;

// The one expression that a function returns in any case; none: it returns several, or at times.
[[nodiscard]] node only_result(const node& function) {
  node found;
  for (const auto& one : function.field("body").all()) {
    if (!one.is("return_statement")) continue;
    if (found) return {};
    found = one;
  }
  auto block = found.parent();
  while (block.parent().is("with_statement")) block = block.parent().parent();
  return found && block == function.field("body") ? found.child(0) : node();
}

// What a key is, each time that it is asked for: no call but those that calculate.
[[nodiscard]] bool is_steady(const source_file& file, const node& key) {
  return std::ranges::all_of(key.all(), [&](const node& one) {
    if (one.is_any({"await", "yield", "named_expression", "lambda"})) return false;
    if (!one.is("call")) return true;
    const auto function = one.field("function");
    const auto name = function.text();
    return file.is_of_python(function) && (name == "len" || name == "int" || name == "str" ||
                                           name == "id" || name == "hash" || name == "type");
  });
}

// The parts of a path: self, groups, items of self.groups[key].items, and what stands in brackets.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> made{""};
  for (const char letter : path) {
    const bool is_of_name = letter == '_' || (letter >= '0' && letter <= '9') ||
                            ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z') ||
                            static_cast<unsigned char>(letter) >= 0x80;
    if (is_of_name) {
      made.back() += letter;
    } else if (!made.back().empty()) {
      made.emplace_back();
    }
  }
  if (made.back().empty()) made.pop_back();
  return made;
}

[[nodiscard]] std::pair<std::string, std::string> root_and_rest(const std::string& path) {
  const auto end = std::min(path.find_first_of(".["), path.size());
  return {path.substr(0, end), path.substr(end)};
}

// The parameter of a method that is the object it was called on.
[[nodiscard]] bool is_own_object(const node& function, std::string_view name) {
  const auto first = function.field("parameters").child(0);
  return function.scope().is("class_definition") && !is_decorated_with(function, "staticmethod") &&
         (first.is("identifier") ? first : first.child(0)).text() == name;
}

[[nodiscard]] node owner_in(const source_file& file, const place& where, const std::string& name) {
  return where.function ? file.owner_of(where.function.field("body"), name) : node();
}

}  // namespace

bool runs_unnamed(const node& function) {
  const auto name = function.field("name").text();
  return name == "forward" || (name.starts_with("__") && name.ends_with("__"));
}

place case_at_hand::place_of(const node& what) const {
  place made{file.function_of(what), {}, what.begin()};
  if (!add_path(what, made, 0)) made.path.clear();
  return made;
}

bool case_at_hand::add_path(const node& expression, place& to, unsigned depth) const {
  const auto what = unwrapped(expression);
  if (!what || depth > longest_path) return false;
  to.begin = std::min(to.begin, what.begin());
  if (what.is("identifier")) {
    const auto owner = file.owner_of(what, what.text());
    if (owner && !owner.is("function_definition")) return false;
    if (!file.is_self(what)) {
      const auto given = value.only_value_of(what);
      const bool is_name =
          given.is_any({"attribute", "identifier"}) || (given.is("subscript") && !is_slice(given));
      if (is_name && file.function_of(given) == file.function_of(what))
        return add_path(given, to, depth + 1);
    }
    to.path += what.text();
    return true;
  }
  if (what.is("attribute")) {
    const auto property = file.property_of(what);
    const auto result = property ? only_result(property) : node();
    if (property && (!result.is("attribute") || !runs_as_written(file, property))) return false;
    if (!add_path(what.field("object"), to, depth + 1)) return false;
    to.path += '.';
    to.path += file.written(what.field("attribute").text());
    return true;
  }
  if (what.is("subscript")) {
    const auto key = what.field("subscript");
    if (!is_steady(file, key) || !add_path(what.field("value"), to, depth + 1)) return false;
    to.path += '[' + key.flat_text() + ']';
    return true;
  }
  if (!what.is("call")) return false;
  const auto function = what.field("function");
  if (function.is("identifier") && function.text() == "super") {
    const auto method = file.function_of(what);
    const auto first = method.field("parameters").child(0);
    to.path += first.text();
    return first.is("identifier");
  }
  const auto name = function.field("attribute").text();  // groups.setdefault(key, [])
  if (name != "get" && name != "setdefault") return false;
  const auto key = what.field("arguments").child(0);
  if (!is_steady(file, key) || !add_path(function.field("object"), to, depth + 1)) return false;
  to.path += '[' + key.flat_text() + ']';
  return true;
}

// Of a method's own object, which `object` is where the method is called.
place case_at_hand::of_object(const place& inside, const node& object, const node& where) const {
  auto made = place_of(object);
  made.function = file.function_of(where);
  made.begin = std::min(made.begin, where.begin());
  if (made) made.path += root_and_rest(inside.path).second;
  return made;
}

place case_at_hand::at_call(const place& inside, const node& call) const {
  const auto& function = inside.function;
  if (!inside || !function) return inside;
  const auto root = root_and_rest(inside.path).first;
  if (is_own_object(function, root)) {
    // store = Store(): what the constructor calls `self` is `store` then.
    if (source_file::is_constructor(function)) {
      const auto given = call.parent();
      const bool has_name = given.is("assignment") && given.field("right") == call;
      return has_name ? of_object(inside, given.field("left"), call) : place();
    }
    if (file.is_bound(function, call))
      return of_object(inside, call.field("function").field("object"), call);
  }
  if (source_file::has_parameter(function, root)) {
    for (const auto& one : arguments_of(call)) {
      if (file.parameter_for(function, call, one) != root) continue;
      return of_object(inside, one.is("keyword_argument") ? one.field("value") : one, call);
    }
    return {};
  }
  // A variable of the module, or of a function around both.
  const auto owner = owner_in(file, inside, root);
  if (owner == function || owner != file.owner_of(call, root)) return {};
  return {file.function_of(call), inside.path, call.begin()};
}

// Whether nothing between two expressions of a function gives a name in them another value.
bool case_at_hand::keeps_meaning(const place& one, const place& other) const {
  const auto from = std::min(one.begin, other.begin);
  const auto to = std::max(one.begin, other.begin);
  const auto is_between = [&](const node& what) {
    return what.begin() > from && what.begin() < to && file.function_of(what) == one.function;
  };
  const auto parts = parts_of(one.path);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    bool is_given_anywhere = false;
    for (const auto& name : file.named(parts[i])) {
      const auto giver = given_by(name);
      if (!giver) continue;
      is_given_anywhere = is_given_anywhere || !source_file::is_constructor(file.function_of(name));
      if (!is_between(name)) continue;
      // items = sorted(items) is the container again.
      const bool is_itself =
          i + 1 == parts.size() && std::ranges::any_of(uses.all, [&](const use& assigns) {
            return assigns.kind == use_kind::assign && assigns.at == giver &&
                   is_made_of_itself(*this, assigns);
          });
      if (!is_itself) return false;
    }
    // self.current of self.current.items, which a function that is called may give something else.
    const bool is_on_the_way = i != 0 && i + 1 != parts.size();
    if (!is_on_the_way || !is_given_anywhere) continue;
    for (const auto& call : one.function.field("body").all()) {
      if (call.is("call") && is_between(call) && file.callee(call)) return false;
    }
  }
  return true;
}

case_at_hand::places case_at_hand::seen_by_callers(const place& from) const {
  constexpr std::size_t most = 200;
  constexpr unsigned highest = 2;
  places made;
  std::vector<std::pair<place, unsigned>> waiting{{from, 0}};
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto [now, depth] = waiting[i];  // the list gets longer
    // The empty path, too: of this function it cannot be told which object it is.
    made[now.function.id()].insert(now.path);
    if (!now || !now.function || depth == highest) continue;
    for (const auto& call : file.calls_of(now.function)) {
      if (waiting.size() >= most) return {};  // too many to tell
      auto next = at_call(now, call);
      next.function = file.function_of(call);
      waiting.emplace_back(std::move(next), depth + 1);
    }
  }
  return made;
}

bool case_at_hand::is_same(const place& one, const place& other) const {
  if (!one || !other) return false;
  if (one.function == other.function) return one.path == other.path && keeps_meaning(one, other);
  // A variable of the module, or of a function around one of them.
  const auto root = root_and_rest(one.path).first;
  const auto owner = owner_in(file, one, root);
  if (one.path == other.path && owner == owner_in(file, other, root)) return true;
  // In the functions that call both, and there it is one object.
  const auto here = seen_by_callers(one);
  const auto there = seen_by_callers(other);
  bool shared = false;
  for (const auto& [function, all] : here) {
    const auto at = there.find(function);
    if (at == there.end()) continue;
    if (all.size() != 1 || all != at->second || all.contains("")) return false;
    shared = true;
  }
  return shared;
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

place case_at_hand::measured(const node& expression, unsigned depth) const {
  const auto what = unwrapped(expression);
  if (!what || depth > deepest) return {};
  for (const auto& one : uses.all) {
    if (one.kind == use_kind::measure && one.at == what) return place_of(one.what);
  }
  if (what.is("subscript") && what.field("value").is("attribute")) {  // items.shape[0]
    const auto shape = what.field("value");
    const bool is_it = shape.field("attribute").text() == "shape" &&
                       means_any(file, shape.field("object"), uses) &&
                       may_be_joined_axis(*this, what.field("subscript"));
    return is_it ? place_of(shape.field("object")) : place();
  }
  if (what.is("call") && what.field("function").is("attribute")) {  // items.size(0)
    const auto method = what.field("function");
    const auto name = method.field("attribute").text();
    const auto axis = what.field("arguments").child(0);
    const bool fits =
        name == "numel" || (name == "size" && (!axis || may_be_joined_axis(*this, axis)));
    if (fits && means_any(file, method.field("object"), uses))
      return place_of(method.field("object"));
  }
  if (what.is("call") && what.field("function").text() == "len") {
    // len(self): of the class that has the container.
    for (const auto& method : file.functions("__len__")) {
      const auto whose = file.class_of(method).field("name").text();
      const auto argument = what.field("arguments").child(0);
      const bool own = !file.is_self(argument) ||
                       file.are_related(file.class_of(argument).field("name").text(), whose);
      const bool of_holder = asked.holder.empty() || file.are_related(whose, asked.holder);
      if (!own || !of_holder || !runs_as_written(file, method)) continue;
      const auto inside = measured(only_result(method), depth + 1);
      if (inside && is_own_object(method, root_and_rest(inside.path).first))
        return of_object(inside, argument, what);
    }
    return {};
  }
  if (what.is("call")) {
    const auto function = file.callee(what);
    if (!function || !runs_as_written(file, function)) return {};
    value.rely_on(function.field("name").text());
    const auto inside = measured(only_result(function), depth + 1);
    return inside ? at_call(inside, what) : place();
  }
  if (const auto property = file.property_of(what)) {
    if (!runs_as_written(file, property)) return {};
    value.rely_on(property.field("name").text());
    const auto inside = measured(only_result(property), depth + 1);
    if (!inside || !is_own_object(property, root_and_rest(inside.path).first)) return {};
    return of_object(inside, what.field("object"), what);
  }
  if (what.is("identifier")) {  // count = len(items)
    const auto value_of_it = value.only_value_of(what);
    const bool is_here = value_of_it && file.function_of(value_of_it) == file.function_of(what) &&
                         loops_around(value_of_it) == loops_around(statement_of(what));
    return is_here ? measured(value_of_it, depth + 1) : place();
  }
  return {};
}

std::vector<fact> case_at_hand::opened(const std::vector<fact>& facts) const {
  std::vector<fact> made;
  for (const auto& one : facts) {
    made.push_back(one);
    if (!one.sign.empty() || one.calls.size() == deepest) continue;
    const auto function = one.left.is("call") ? file.callee(one.left) : file.property_of(one.left);
    if (!function || source_file::is_constructor(function) || !runs_as_written(file, function))
      continue;
    const auto result = only_result(function);
    if (!result) continue;
    value.rely_on(function.field("name").text());
    auto inner = facts_of(result, one.holds);
    for (auto& below : inner) {
      below.condition = one.condition;
      below.calls = one.calls;
      below.calls.push_back(one.left);
    }
    const auto all = opened(inner);
    made.insert(made.end(), all.begin(), all.end());
  }
  return made;
}

std::optional<std::int64_t> case_at_hand::most_by(const fact& one, const place& of) const {
  const auto is_it = [&](place found) {
    for (auto call = one.calls.rbegin(); call != one.calls.rend(); ++call) {
      const bool is_property = call->is("attribute");
      if (is_property && !is_own_object(found.function, root_and_rest(found.path).first))
        return false;
      found = is_property ? of_object(found, call->field("object"), *call) : at_call(found, *call);
    }
    return is_same(of, found);
  };
  const auto on_left = measured(one.left);
  const bool left = static_cast<bool>(on_left);
  if (one.sign.empty()) {
    // `while items:` and `if not items:` leave nothing where they do not hold.
    const bool empty = !one.holds && (left || means_any(file, one.left, uses)) &&
                       is_it(left ? on_left : place_of(one.left));
    return empty ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  const auto length = left ? on_left : measured(one.right);
  if (!length || !is_it(length)) return std::nullopt;
  const auto limit = value.of(left ? one.right : one.left);
  if (!limit) return std::nullopt;
  const bool below = left ? one.sign == "<" : one.sign == ">";
  const bool at_most = one.sign == "==" || (left ? one.sign == "<=" : one.sign == ">=");
  if (below) return *limit - 1;
  return at_most ? limit : std::nullopt;
}

std::optional<std::int64_t> case_at_hand::most_by(const std::vector<fact>& facts,
                                                  const place& of) const {
  std::optional<std::int64_t> least;
  for (const auto& one : opened(facts)) {
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
