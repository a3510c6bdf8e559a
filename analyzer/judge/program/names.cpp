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

std::vector<node> targets_of(const node& pattern) {
  std::vector<node> made;
  if (pattern.is_any({"identifier", "attribute", "subscript"})) return {pattern};
  for (const auto& one : pattern.children()) {
    const auto below = targets_of(one);
    made.insert(made.end(), below.begin(), below.end());
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
  nodes_ = root().all();
  for (const auto& one : nodes_) {
    if (one.is("identifier")) {
      // What stands after the dot is found by its whole.
      if (!(one.parent().is("attribute") && one.parent().field("attribute") == one)) {
        named_[std::string(one.text())].push_back(one);
      }
    } else if (one.is("attribute")) {
      named_[std::string(one.field("attribute").text())].push_back(one);
    } else if (one.is("function_definition")) {
      functions_[std::string(one.field("name").text())].push_back(one);
    } else if (one.is("class_definition")) {
      const std::string name(one.field("name").text());
      classes_[name].push_back(one);
      for (const auto& base : one.field("superclasses").children()) {
        const auto last = base.is("attribute") ? base.field("attribute") : base;
        bases_[name].insert(std::string(last.text()));
      }
    } else if (one.is("import_statement")) {
      for (const auto& what : one.children()) {
        const auto alias = what.field("alias");
        const auto name = alias ? alias.text() : what.text();
        const auto whole = alias ? what.field("name").text() : what.text();
        libraries_.emplace(name.substr(0, name.find('.')), whole.substr(0, whole.find('.')));
      }
    } else if (one.is("import_from_statement")) {
      for (const auto& what : one.all_of_field("name")) {
        const auto alias = what.field("alias");
        const auto from = one.field("module_name").text();
        libraries_.emplace((alias ? alias : what).text(), from.substr(0, from.find('.')));
      }
    }
  }
  for (const auto& [name, all] : functions_) {
    for (const auto& one : all) find_bound(one);
  }
}

const std::vector<node>& source_file::named(std::string_view name) const {
  return found_in(named_, name);
}

const std::vector<node>& source_file::functions(std::string_view name) const {
  return found_in(functions_, name);
}

const std::vector<node>& source_file::classes(std::string_view name) const {
  return found_in(classes_, name);
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
    std::set<std::string, std::less<>> seen;
    std::vector<std::string> waiting{std::string(from)};
    while (!waiting.empty()) {
      const auto now = std::move(waiting.back());
      waiting.pop_back();
      if (now == to) return true;
      if (!seen.insert(now).second) continue;
      const auto at = bases_.find(now);
      if (at != bases_.end()) waiting.insert(waiting.end(), at->second.begin(), at->second.end());
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
  return around(what, {"function_definition"});
}

node source_file::class_of(const node& what) const {
  return around(what, {"class_definition"});
}

void source_file::find_bound(const node& function) {
  auto& made = bound_[function.begin()];
  for (const auto& one : function.field("parameters").children()) {
    if (const auto name = name_of_parameter(one)) made.insert(std::string(name.text()));
  }
  std::set<std::string> elsewhere;
  const auto take = [&](const node& pattern) {
    for (const auto& one : targets_of(pattern)) {
      if (one.is("identifier")) made.insert(std::string(one.text()));
    }
  };
  for (const auto& one : function.field("body").all()) {
    const bool is_definition = one.is_any(functions_and_classes);
    // What a function within it binds is its own.
    if (around(is_definition ? one.field("name") : one, functions_and_classes) != function &&
        !(is_definition && around(one, functions_and_classes) == function)) {
      continue;
    }
    if (one.is_any({"assignment", "augmented_assignment", "for_statement", "for_in_clause"})) {
      take(one.field("left"));
    } else if (one.is("named_expression") || is_definition) {
      take(one.field("name"));
    } else if (one.is("as_pattern_target")) {
      take(one.child(0));
    } else if (one.is_any({"global_statement", "nonlocal_statement"})) {
      for (const auto& name : one.children()) elsewhere.insert(std::string(name.text()));
    }
  }
  for (const auto& name : elsewhere) made.erase(name);
}

bool source_file::binds(const node& function, const std::string& name) const {
  const auto at = bound_.find(function.begin());
  return function && at != bound_.end() && at->second.contains(name);
}

node source_file::owner_of(const node& where, const std::string& name) const {
  for (auto at = function_of(where); at; at = function_of(at)) {
    if (binds(at, name)) return at;
  }
  return {};
}

bool source_file::is_self(const node& what) const {
  if (!what.is("identifier")) return false;
  const auto owner = owner_of(what, std::string(what.text()));
  if (!around(owner, functions_and_classes).is("class_definition")) return false;
  return name_of_parameter(owner.field("parameters").child(0)).text() == what.text();
}

bool source_file::has_parameter(const node& function, std::string_view name) {
  return std::ranges::any_of(function.field("parameters").children(), [&](const node& one) {
    return name_of_parameter(one).text() == name;
  });
}

bool source_file::runs_later(const node& function) const {
  if (function.text().starts_with("async")) return true;
  return std::ranges::any_of(function.field("body").all(), [&](const node& one) {
    return one.is("yield") && function_of(one) == function;
  });
}

bool source_file::is_constructor(const node& function) {
  return function.field("name").text() == "__init__";
}

bool source_file::is_library(std::string_view name) const {
  return libraries_.contains(name);
}

std::string_view source_file::package_of(std::string_view name) const {
  const auto at = libraries_.find(name);
  return at == libraries_.end() ? std::string_view() : std::string_view(at->second);
}

node source_file::callee(const node& call) const {
  const auto what = call.field("function");
  if (what.is("identifier")) {
    const auto& made = classes(what.text());
    if (made.size() == 1) {
      for (const auto& one : functions("__init__")) {
        if (class_of(one) == made.front()) return one;
      }
      return {};
    }
    const auto& all = functions(what.text());
    return all.size() == 1 && !class_of(all.front()) ? all.front() : node();
  }
  if (!what.is("attribute")) return {};
  const auto object = what.field("object");
  if (is_library(object.text())) return {};
  std::vector<node> fits;
  const auto own = class_of(call).field("name").text();
  for (const auto& one : functions(what.field("attribute").text())) {
    const auto whose = class_of(one).field("name").text();
    if (whose.empty()) continue;
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
  const bool is_method = static_cast<bool>(class_of(function)) &&
                         around(function, functions_and_classes).is("class_definition");
  if (is_method) ++place;  // after self
  const auto parameters = function.field("parameters").children();
  if (starred || place >= parameters.size()) return {};
  const auto name = name_of_parameter(parameters[place]);
  const bool gathers = parameters[place].is_any({"list_splat_pattern", "dictionary_splat_pattern"});
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
