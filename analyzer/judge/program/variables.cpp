// SPDX-License-Identifier: Apache-2.0
//
// Whether a node of the program means a variable, and where what is given to one comes from.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "analyzer/judge/program/uses.h"

namespace memtrace::program {

std::vector<use> use_list::of(use_kind kind) const {
  std::vector<use> made;
  std::ranges::copy_if(all, std::back_inserter(made),
                       [kind](const use& one) { return one.kind == kind; });
  return made;
}

bool use_list::has(use_kind kind) const {
  return std::ranges::any_of(all, [kind](const use& one) { return one.kind == kind; });
}

node behind(const source_file& file, const node& value) {
  if (!value.is("identifier")) return value;
  const auto statement = statement_of(value);
  node before;
  for (const auto& one : statement.parent().children()) {
    if (one == statement) break;
    before = one;
  }
  const auto given = before.child(0);
  const auto left = given.field("left");
  if (!given.is("assignment") || !left.is("identifier") || left.text() != value.text())
    return value;
  const std::string name(value.text());
  const auto owner = file.owner_of(value, name);
  const auto times = std::ranges::count_if(
      file.named(name), [&](const node& one) { return file.owner_of(one, name) == owner; });
  const auto right = given.field("right");
  return owner && times == 2 && right && !right.is("assignment") ? right : value;
}

std::string_view word_of(const node& what) {
  return what.is("string") && what.children().size() <= 3 ? what.child(1).text()
                                                          : std::string_view();
}

bool is_side_by_side(const node& values) {
  const auto whole = values.parent();
  if (!whole.is("assignment") || whole.field("right") != values) return false;
  return values.is("expression_list") ||
         (values.is("tuple") && whole.field("left").is_any({"pattern_list", "tuple_pattern"}));
}

node target_beside(const node& value) {
  const auto rights = value.parent().children();
  const auto lefts = value.parent().parent().field("left").children();
  const auto at = std::ranges::find(rights, value);
  if (lefts.size() != rights.size() || at == rights.end()) return {};
  return lefts[static_cast<std::size_t>(at - rights.begin())];
}

bool is_chosen_value(const node& what) {
  auto at = what.parent();
  while (at.is_any({"boolean_operator", "parenthesized_expression"})) at = at.parent();
  return at.is_any({"assignment", "return_statement", "argument_list", "keyword_argument",
                    "attribute", "subscript", "for_statement", "named_expression"});
}

bool makes_container(const source_file& file, const node& call) {
  constexpr std::array<std::string_view, 8> by_python = {
      "list", "dict", "set", "tuple", "sorted", "frozenset", "filter", "reversed"};
  constexpr std::array<std::string_view, 9> by_library = {
      "deque",     "OrderedDict",   "defaultdict", "Counter", "Queue",
      "LifoQueue", "PriorityQueue", "SimpleQueue", "ChainMap"};
  const auto function = call.field("function");
  const auto object = function.field("object");
  const auto name = function.is("attribute") ? function.field("attribute").text() : function.text();
  if (std::ranges::find(by_python, name) != by_python.end()) return file.is_of_python(function);
  if (std::ranges::find(by_library, name) == by_library.end()) return false;
  // A program's own class may have the name.
  return function.is("attribute") ? object.is("identifier") && file.is_library(object.text())
                                  : file.classes(name).empty() && file.functions(name).empty();
}

namespace {

class origin_finder {
 public:
  origin_finder(const source_file& file, bool elements) : file_(file), elements_(elements) {}

  void look_at(const node& value, unsigned depth = 0) {
    constexpr unsigned deepest_value = 5;
    const auto what = unwrapped(value);
    if (depth > deepest_value) {
      found.unknown.push_back(what);
    } else if (what.is("identifier")) {
      const auto owner = file_.owner_of(what, what.text());
      if (!source_file::has_parameter(owner, what.text())) found.names.push_back(what);
    } else if (what.is("attribute")) {
      found.names.push_back(what);
    } else if (what.is("subscript") && !is_slice(what) && !elements_) {
      found.unknown.push_back(what);
    } else if (what.is("conditional_expression")) {
      look_at(what.child(0), depth + 1);
      look_at(what.child(2), depth + 1);
    } else if (what.is("boolean_operator")) {
      look_at(what.field("left"), depth + 1);
      look_at(what.field("right"), depth + 1);
    } else if (what.is("named_expression")) {
      found.names.push_back(what.field("name"));
      look_at(what.field("value"), depth + 1);
    } else if (what.is("call") && !makes_container(file_, what)) {
      look_at_call(what, depth);
    }
  }

  origins found;

 private:
  // A function of the file may return what it was given, or what others have; so may pop() and get().
  void look_at_call(const node& call, unsigned depth) {
    const auto function = file_.callee(call);
    if (!function) {
      const auto method = call.field("function").field("attribute").text();
      if (method == "get" || method == "pop" || method == "setdefault" || method == "popleft")
        found.unknown.push_back(call);
      return;
    }
    if (source_file::is_constructor(function)) return;
    for (const auto& one : function.field("body").all()) {
      if (!one.is("return_statement") || file_.function_of(one) != function) continue;
      const auto result = unwrapped(one.child(0));
      const bool is_given =
          result.is("identifier") && source_file::has_parameter(function, result.text());
      if (!is_given) {
        look_at(result, depth + 1);
        continue;
      }
      for (const auto& argument : arguments_of(call)) {
        if (file_.parameter_for(function, call, argument) != result.text()) continue;
        look_at(argument.is("keyword_argument") ? argument.field("value") : argument, depth + 1);
      }
    }
  }

  const source_file& file_;
  bool elements_;
};

}  // namespace

origins origins_of(const source_file& file, const node& value, bool elements) {
  origin_finder finder(file, elements);
  finder.look_at(value);
  return std::move(finder.found);
}

origins given_to_constructors(const source_file& file, const variable& what) {
  if (what.kind != variable_kind::attribute || what.holder.empty()) return {};
  origin_finder finder(file, false);
  for (const auto& one : file.named(what.holder)) {
    const auto call = one.parent();
    if (!call.is("call") || call.field("function") != one || file.callee(call)) continue;
    for (const auto& argument : arguments_of(call)) {
      if (argument.is_any({"list_splat", "dictionary_splat"})) {
        finder.found.unknown.push_back(call);
      } else if (!argument.is("keyword_argument")) {
        finder.look_at(argument);
      } else if (argument.field("name").text() == what.name) {
        finder.look_at(argument.field("value"));
      }
    }
  }
  return std::move(finder.found);
}

bool means(const source_file& file, const node& what, const variable& which) {
  if (which.kind == variable_kind::attribute) {
    if (what.is("identifier")) {
      // A name in the body of the class is an attribute of its objects.
      const auto scope = around(what, {"function_definition", "class_definition"});
      return scope.is("class_definition") && what.text() == which.name &&
             (which.holder.empty() || file.are_related(scope.field("name").text(), which.holder));
    }
    if (!what.is("attribute") || file.written(what.field("attribute").text()) != which.name)
      return false;
    const auto object = what.field("object");
    if (which.of_module) return object.is("identifier") && file.is_library(object.text());
    if (which.holder.empty() || !file.is_self(object)) {
      // A function or class of a library has the same name.
      return !(object.is("identifier") && file.is_library(object.text()) &&
               !file.owner_of(object, object.text()));
    }
    return file.are_related(file.class_of(what).field("name").text(), which.holder);
  }
  if (!what.is("identifier") || what.text() != which.name) return false;
  const auto parent = what.parent();
  if (parent.is("keyword_argument") && parent.field("name") == what) return false;
  if (parent.is_any({"parameters", "lambda_parameters", "global_statement", "nonlocal_statement"}))
    return false;
  if (parent.is_any({"default_parameter", "typed_default_parameter"}) &&
      parent.field("name") == what) {
    return false;
  }
  return file.owner_of(what, which.name) == which.scope;
}

bool means_any(const source_file& file, const node& what, const use_list& uses) {
  return std::ranges::any_of(
      uses.names, [&](const variable& one) { return !one.elements && means(file, what, one); });
}

}  // namespace memtrace::program
