// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace memtrace::program {

namespace {

const std::initializer_list<std::string_view> functions_and_classes = {"function_definition",
                                                                       "class_definition"};

const std::vector<node> none;

template <class Map>
[[nodiscard]] const std::vector<node>& found_in(const Map& map, std::string_view name) {
  const auto at = map.find(name);
  return at == map.end() ? none : at->second;
}

// Of a parameter, in each form that it has; of `*` and `/` there is none.
[[nodiscard]] node name_of_parameter(node parameter) {
  while (parameter && !parameter.is("identifier")) {
    const auto name = parameter.field("name");
    parameter = name ? name : parameter.child(0);
  }
  return parameter;
}

}  // namespace

bool is_decorated_with(const node& function, std::string_view name) {
  if (!function.parent().is("decorated_definition")) return false;
  const auto all = function.parent().children();
  return std::ranges::any_of(
      all, [&](const node& one) { return one.is("decorator") && one.child(0).text() == name; });
}

node given_by(const node& target) {
  const auto pattern = around(target, {"case_pattern", "block"});
  if (pattern.is("case_pattern")) return pattern;
  auto below = target;
  auto at = target.parent();
  while (at.is_any({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern",
                    "parenthesized_expression"})) {
    below = at;
    at = at.parent();
  }
  if (at.is("as_pattern_target")) return at;
  if (at.is("named_expression")) return at.field("name") == below ? at : node();
  const bool gives =
      at.is_any({"assignment", "augmented_assignment", "for_statement", "for_in_clause"});
  return gives && at.field("left") == below ? at : node();
}

std::vector<node> targets_of(const node& pattern) {
  std::vector<node> made;
  for (const auto& one : pattern.all()) {
    if (!made.empty() && one.is_in(made.back())) continue;
    if (one.is_any({"identifier", "attribute", "subscript"})) made.push_back(one);
  }
  return made;
}

std::vector<node> arguments_of(const node& call) {
  return call.field("arguments").children();
}

std::size_t count_of_arguments(const node& call) {
  return arguments_of(call).size();
}

std::vector<node> loops_around(const node& what) {
  std::vector<node> made;
  for (auto below = what, at = what.parent(); at; below = at, at = at.parent()) {
    if (at.is_any({"function_definition", "lambda", "class_definition"})) break;
    // What a loop goes through is asked for once, and what follows `else` runs after it.
    const bool in_body = below == at.field("body") || below == at.field("condition");
    if (at.is_any({"for_statement", "while_statement"}) && in_body) made.push_back(at);
  }
  return made;
}

node statement_of(const node& what) {
  for (auto at = what; at; at = at.parent()) {
    if (at.parent().is_any({"block", "module"})) return at;
  }
  return {};
}

source_file::source_file(std::string text) : text_(std::move(text)), parsed_(text_) {
  index();
}

void source_file::index() {
  for (const auto& one : root().all()) {
    const auto kind = one.kind();
    if (kind == "identifier") {
      // What stands after the dot is found by its whole.
      if (!(one.parent().is("attribute") && one.parent().field("attribute") == one))
        named_[one.text()].push_back(one);
    } else if (kind == "attribute") {
      named_[one.field("attribute").text()].push_back(one);
    } else if (kind == "function_definition" || kind == "class_definition") {
      index_definition(one);
    } else if (kind == "import_statement" || kind == "import_from_statement") {
      index_import(one);
    } else if (kind == "string_content") {
      quoted_[one.text()].push_back(one.parent());
    } else if (kind == "wildcard_import") {
      imports_all_ = true;
    } else if (kind == "yield") {
      yields_.insert(function_of(one).id());
    } else {
      index_binding(one);
    }
  }
  // store._Store__items is what the class has as self.__items.
  std::vector<std::string_view> private_names;
  for (const auto& [name, all] : named_) {
    if (written(name) != name) private_names.push_back(name);
  }
  for (const auto& name : private_names) {
    auto& to = named_[written(name)];
    to.insert(to.end(), named_[name].begin(), named_[name].end());
    std::ranges::sort(to, {}, &node::id);
  }
}

void source_file::index_definition(const node& what) {
  const auto name = what.field("name").text();
  const bool is_class = what.is("class_definition");
  (is_class ? classes_ : functions_)[name].push_back(what);
  if (!what.scope().is("class_definition")) defined_[what.scope().id()].insert(name);
  for (const auto& one : what.field("parameters").children()) {
    if (const auto parameter = name_of_parameter(one)) given_[what.id()].insert(parameter.text());
  }
  for (const auto& base : what.field("superclasses").children()) {
    const auto last = base.is("attribute") ? base.field("attribute") : base;
    bases_[name].insert(last.text());
  }
}

void source_file::index_import(const node& what) {
  const bool is_from = what.is("import_from_statement");
  const auto from = what.field("module_name").text();
  for (const auto& one : what.all_of_field("name")) {
    const auto alias = one.field("alias");
    const auto whole = is_from ? from : alias ? one.field("name").text() : one.text();
    const auto name = (alias ? alias : one).text();
    const auto first = is_from ? name : name.substr(0, name.find('.'));
    libraries_.emplace(first, whole.substr(0, whole.find('.')));
    given_[what.scope().id()].insert(first);
  }
}

void source_file::index_binding(const node& what) {
  const auto kind = what.kind();
  auto scope = what.scope();
  if (kind == "for_in_clause") return give(what.field("left"), scope);
  if (kind == "lambda") {
    for (const auto& one : what.field("parameters").children()) {
      if (const auto name = name_of_parameter(one)) given_[what.id()].insert(name.text());
    }
    return;
  }
  // A comprehension has what its loops give, and nothing else.
  while (scope && !scope.is_any(functions_and_classes)) scope = scope.scope();
  if (kind == "assignment" || kind == "augmented_assignment" || kind == "for_statement") {
    give(what.field("left"), scope);
  } else if (kind == "named_expression") {
    give(what.field("name"), scope);
  } else if (kind == "as_pattern_target" || kind == "case_pattern") {
    give(what, scope);
  } else if (kind == "global_statement" || kind == "nonlocal_statement") {
    for (const auto& name : what.children()) {
      elsewhere_[scope.id()].insert(name.text());
      if (kind == "global_statement") given_[0].insert(name.text());
    }
  }
}

void source_file::give(const node& pattern, const node& scope) {
  for (const auto& one : targets_of(pattern)) {
    if (one.is("attribute")) replaced_.insert(one.field("attribute").text());
    if (!one.is("identifier")) continue;
    if (scope.is("class_definition")) {
      replaced_.insert(one.text());
    } else {
      given_[scope.id()].insert(one.text());
    }
  }
}

std::string_view source_file::written(std::string_view name) const {
  const auto dunder = name.find("__", 1);
  if (!name.starts_with('_') || dunder == name.npos || name.ends_with("__")) return name;
  return classes_.contains(name.substr(1, dunder - 1)) ? name.substr(dunder) : name;
}

const std::vector<node>& source_file::named(std::string_view name) const {
  const auto& found = found_in(named_, name);
  parsed_.spend(found.size());
  return found;
}

const std::vector<node>& source_file::quoted(std::string_view word) const {
  const auto& found = found_in(quoted_, word);
  parsed_.spend(found.size());
  return found;
}

const std::vector<node>& source_file::functions(std::string_view name) const {
  const auto& found = found_in(functions_, name);
  parsed_.spend(found.size());
  return found;
}

const std::vector<node>& source_file::classes(std::string_view name) const {
  const auto& found = found_in(classes_, name);
  parsed_.spend(found.size());
  return found;
}

node source_file::function_at(std::string_view name, std::uint32_t line) const {
  const auto& all = functions(name);
  for (const auto& one : all) {
    const auto whole = one.parent().is("decorated_definition") ? one.parent() : one;
    if (line >= whole.line() && line <= one.field("name").line()) return one;
  }
  return all.size() == 1 && line == 0 ? all.front() : node();
}

bool source_file::are_related(std::string_view one, std::string_view other) const {
  if (one == other) return true;
  const auto derives = [&](std::string_view from, std::string_view to) {
    std::set<std::string_view> seen;
    std::vector<std::string_view> waiting{from};
    while (!waiting.empty()) {
      const auto now = waiting.back();
      waiting.pop_back();
      if (now == to) return true;
      if (!seen.insert(now).second) continue;
      const auto at = bases_.find(now);
      if (at == bases_.end()) continue;
      parsed_.spend(10 * at->second.size());
      waiting.insert(waiting.end(), at->second.begin(), at->second.end());
    }
    return false;
  };
  return derives(one, other) || derives(other, one);
}

bool source_file::is_attribute_of_others(std::string_view attribute,
                                         std::string_view holder) const {
  return std::ranges::any_of(named(attribute), [&](const node& one) {
    if (!one.is("attribute") || !is_self(one.field("object"))) return false;
    const auto other = class_of(one).field("name").text();
    return !other.empty() && !are_related(other, holder);
  });
}

node source_file::function_of(const node& what) const {
  auto at = what.scope();
  while (at && !at.is("function_definition")) at = at.scope();
  return at;
}

node source_file::class_of(const node& what) const {
  auto at = what.scope();
  while (at && !at.is("class_definition")) at = at.scope();
  return at;
}

bool source_file::is_given(const node& scope, std::string_view name) const {
  const auto at = given_.find(scope.id());
  return at != given_.end() && at->second.contains(name);
}

bool source_file::binds(const node& scope, std::string_view name) const {
  if (!scope) return false;
  const auto other = elsewhere_.find(scope.id());
  if (other != elsewhere_.end() && other->second.contains(name)) return false;
  const auto at = defined_.find(scope.id());
  return is_given(scope, name) || (at != defined_.end() && at->second.contains(name));
}

node source_file::owner_of(const node& where, std::string_view name) const {
  auto below = where;
  for (auto at = where.scope(); at; below = at, at = at.scope()) {
    if (at.is("class_definition") || !binds(at, name)) continue;
    // What the first loop of a comprehension goes through is asked for outside.
    if (!at.is_any({"function_definition", "lambda"})) {
      const auto first = at.child(1);
      if (first.is("for_in_clause") && below.is_in(first.field("right"))) continue;
    }
    return at;
  }
  return {};
}

bool source_file::is_of_python(const node& name) const {
  if (!name.is("identifier") || owner_of(name, name.text())) return false;
  const auto defined = defined_.find(0);
  const auto given = given_.find(0);
  return (defined == defined_.end() || !defined->second.contains(name.text())) &&
         (given == given_.end() || !given->second.contains(name.text()));
}

bool source_file::is_self(const node& what) const {
  if (!what.is("identifier")) return false;
  const auto owner = owner_of(what, what.text());
  if (!owner.scope().is("class_definition") || is_decorated_with(owner, "staticmethod"))
    return false;
  return name_of_parameter(owner.field("parameters").child(0)).text() == what.text();
}

bool source_file::has_parameter(const node& function, std::string_view name) {
  return std::ranges::any_of(function.field("parameters").children(), [&](const node& one) {
    return name_of_parameter(one).text() == name;
  });
}

bool source_file::runs_later(const node& function) const {
  return function.text().starts_with("async") || yields_.contains(function.id());
}

bool source_file::is_constructor(const node& function) {
  return function.field("name").text() == "__init__";
}

bool source_file::is_made_by_others(std::string_view made) const {
  parsed_.spend(bases_.size());
  for (const auto& [name, bases] : bases_) {
    if (name != made && bases.contains(made)) return true;
  }
  for (const auto& one : classes(made)) {
    for (const auto& part : one.field("body").all()) {
      const auto function = part.is("call") ? part.field("function") : node();
      if (is_self(function) || function.field("function").text() == "type") return true;
    }
  }
  return false;
}

bool source_file::is_library(std::string_view name) const {
  return libraries_.contains(name);
}

std::string_view source_file::package_of(std::string_view name) const {
  const auto at = libraries_.find(name);
  return at == libraries_.end() ? std::string_view() : at->second;
}

node source_file::callee(const node& call) const {
  const auto what = call.field("function");
  if (what.is("identifier")) {
    // Something else may have been given this name.
    const auto owner = owner_of(what, what.text());
    if (is_given(owner, what.text())) return {};
    const auto& made = classes(what.text());
    if (made.size() == 1) {
      for (const auto& one : functions("__init__")) {
        if (one.scope() == made.front()) return one;
      }
      return {};
    }
    const auto& all = functions(what.text());
    return all.size() == 1 && all.front().scope() == owner ? all.front() : node();
  }
  if (!what.is("attribute")) return {};
  const auto object = what.field("object");
  const auto name = what.field("attribute").text();
  if (is_library(object.text()) || replaced_.contains(name)) return {};
  std::vector<node> fits;
  const auto own = class_of(call).field("name").text();
  for (const auto& one : functions(name)) {
    if (!one.scope().is("class_definition")) continue;
    const auto whose = one.scope().field("name").text();
    if (is_self(object) && !are_related(whose, own)) continue;
    fits.push_back(one);
  }
  return fits.size() == 1 ? fits.front() : node();
}

std::vector<node> source_file::calls_of(const node& function) const {
  std::vector<node> made;
  const auto name = is_constructor(function) ? class_of(function).field("name").text()
                                             : function.field("name").text();
  for (const auto& one : named(name)) {
    const auto call = one.parent();
    if (call.is("call") && call.field("function") == one && callee(call) == function) {
      made.push_back(call);
    }
  }
  return made;
}

bool source_file::is_bound(const node& function, const node& call) const {
  if (!function.scope().is("class_definition")) return false;
  if (is_decorated_with(function, "staticmethod")) return false;
  if (is_constructor(function) || is_decorated_with(function, "classmethod")) return true;
  const auto object = call.field("function").field("object");
  return !(object.is("identifier") && !classes(object.text()).empty());
}

node source_file::property_of(const node& attribute) const {
  if (!attribute.is("attribute")) return {};
  const auto& all = functions(attribute.field("attribute").text());
  if (all.size() != 1 || !is_decorated_with(all.front(), "property")) return {};
  const auto object = attribute.field("object");
  const auto whose = class_of(all.front()).field("name").text();
  const bool fits =
      !is_self(object) || are_related(whose, class_of(attribute).field("name").text());
  return fits ? all.front() : node();
}

std::string source_file::parameter_for(const node& function, const node& call,
                                       const node& argument) const {
  if (argument.is("keyword_argument")) return std::string(argument.field("name").text());
  const auto given = arguments_of(call);
  const auto at = std::ranges::find(given, argument);
  if (at == given.end() || argument.is_any({"list_splat", "dictionary_splat"})) return {};
  const bool starred = std::any_of(given.begin(), at, [](const node& one) {
    return one.is_any({"list_splat", "dictionary_splat"});
  });
  auto place = static_cast<std::size_t>(at - given.begin());
  if (is_bound(function, call)) ++place;  // after self
  auto parameters = function.field("parameters").children();
  std::erase_if(parameters, [](const node& one) { return one.is("positional_separator"); });
  if (starred || place >= parameters.size()) return {};
  const auto name = name_of_parameter(parameters[place]);
  const bool gathers = parameters[place].is_any(
      {"list_splat_pattern", "dictionary_splat_pattern", "keyword_separator"});
  return gathers ? std::string() : std::string(name.text());
}

// Named without a call, or a method that a class of somebody else's may call. PyTorch's classes call
// no method of a name that is not theirs.
bool source_file::is_called_by_others(const node& function, std::size_t calls) const {
  if (is_constructor(function)) return false;
  const auto name = function.field("name").text();
  if (named(name).size() > calls + functions(name).size()) return true;
  if (calls != 0) return false;
  const auto bases = class_of(function).field("superclasses").children();
  return std::ranges::any_of(bases, [&](const node& base) {
    auto first = base;
    while (first.is("attribute")) first = first.field("object");
    const bool is_torch = package_of(first.text()) == "torch" || first.text() == "object";
    return !is_torch || name == "forward";
  });
}

bool source_file::is_repeated(const node& what, const std::vector<std::uint32_t>& running,
                              calls_by whom, unsigned depth) const {
  constexpr unsigned deepest = 8;
  const auto runs = [&](const node& loop) {
    const auto body = loop.field("body");
    return running.empty() || std::ranges::any_of(running, [&](std::uint32_t line) {
             return line >= body.line() && line <= body.last_line();
           });
  };
  if (std::ranges::any_of(loops_around(what), runs)) return true;
  const auto function = function_of(what);
  if (!function || depth == deepest) return false;
  const auto calls = calls_of(function);
  const bool is_called = std::ranges::any_of(calls, [&](const node& call) {
    return function_of(call) != function && is_repeated(call, running, whom, depth + 1);
  });
  return is_called || (whom == calls_by::others_too && is_called_by_others(function, calls.size()));
}

}  // namespace memtrace::program
