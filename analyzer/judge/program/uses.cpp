// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/uses.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace memtrace::program {

namespace {

constexpr std::size_t most_names = 24;
constexpr std::size_t most_uses = 2000;  // more of one name: made to take long
// Of containers in containers: kept[0][0][0]…
constexpr unsigned deepest_element = 50;

class gatherer {
 public:
  gatherer(const source_file& file, bool is_queue, bool is_tensor)
      : file_(file), is_queue_(is_queue), is_tensor_(is_tensor) {}

  [[nodiscard]] use_list gather(const variable& what) {
    made_.names.push_back(what);
    by_word(what);
    if (!is_tensor_) take(given_to_constructors(file_, what));
    for (std::size_t i = 0; i < made_.names.size(); ++i) {
      const auto one = made_.names[i];  // the list gets longer
      by_alias_ = i != 0;
      for (const auto& reference : file_.named(one.name)) {
        if (!means(file_, reference, one)) continue;
        const bool certain = is_certain(reference, one);
        at_hand_ = reference;
        name_ = one;
        is_first_ = i == 0;
        one.elements ? element_of(reference, one.key, certain) : classify(reference, certain);
        while (!returned_to_.empty()) {
          const auto call = std::exchange(returned_to_.back(), {});
          returned_to_.pop_back();
          classify(call.first, call.second);
        }
      }
    }
    return std::move(made_);
  }

 private:
  // setattr(module, "cache", value), self.register_buffer("cache", value)
  void by_word(const variable& what) {
    at_hand_ = {};
    is_first_ = true;
    for (const auto& one : file_.quoted(what.name)) {
      if (word_of(one) != what.name) continue;
      const auto where = one.parent();
      if (where.is("subscript")) {  // vars(self)["cache"], self.__dict__["cache"]
        const auto of = where.field("value");
        const auto function = of.field("function").text();
        const bool by_dict = of.text().ends_with("__dict__") || function == "vars" ||
                             function == "globals" || function == "locals";
        if (by_dict) add({use_kind::escape, where}, true);
      }
      if (what.kind != variable_kind::attribute || !where.is("argument_list")) continue;
      const auto call = where.parent();
      const auto name = call.field("function");
      const auto last = name.is("attribute") ? name.field("attribute").text() : name.text();
      const auto given = arguments_of(call);
      const auto at = std::ranges::find(given, one);
      const bool sets = last == "setattr" || last == "register_buffer" || last == "__setattr__";
      if (sets && at != given.end() && at + 1 != given.end()) {
        add({use_kind::assign, call, use_amount::one, {}, *(at + 1)}, false);
        came_from(*(at + 1));
      } else if (last == "getattr" || last == "delattr" || last == "attrgetter" ||
                 last == "__getattribute__" || last == "__getattr__") {
        add({use_kind::escape, call}, false);
      }
    }
  }

  [[nodiscard]] bool is_certain(const node& reference, const variable& one) const {
    if (one.kind != variable_kind::attribute) return true;
    if (file_.is_self(reference.field("object"))) return true;
    return one.holder.empty() || !file_.is_attribute_of_others(one.name, one.holder);
  }

  void add(use one, bool certain) {
    // Another name that is given something else has no longer to do with the object; and what is in
    // the elements of elements may be read by anybody.
    if (by_alias_ && one.kind == use_kind::assign) return;
    if (deep_ && (one.kind == use_kind::assign || one.kind == use_kind::escape)) return;
    one.certain = certain;
    if (one.kind == use_kind::assign) one.value = behind(file_, one.value);
    // Another name that is given something else leaves the container as it is.
    if (one.kind == use_kind::assign && !is_first_ && name_.kind == variable_kind::local)
      one.certain = false;
    if (!one.what) one.what = at_hand_;
    // [items.append(x) for x in all]
    const auto where = around(one.at, {"list_comprehension", "set_comprehension", "block",
                                       "dictionary_comprehension", "generator_expression"});
    if (one.amount == use_amount::one &&
        (one.kind == use_kind::grow || one.kind == use_kind::put) && where && !where.is("block")) {
      one.amount = use_amount::many;
    }
    if (made_.all.size() == most_uses) throw too_many_looks{};
    made_.all.push_back(std::move(one));
  }

  void follow(const variable& other) {
    if (std::ranges::find(made_.names, other) != made_.names.end()) return;
    if (made_.names.size() == most_names) return add({use_kind::escape, at_hand_}, true);
    made_.names.push_back(other);
  }

  // The variable that a target of an assignment is.
  void follow_target(const node& target, bool elements = false, const std::string& key = {}) {
    if (target.is("identifier")) {
      const std::string name(target.text());
      const auto owner = file_.owner_of(target, name);
      follow(
          {owner ? variable_kind::local : variable_kind::global, owner, name, {}, elements, key});
    } else if (target.is("attribute")) {
      const auto holder = file_.is_self(target.field("object"))
                              ? std::string(file_.class_of(target).field("name").text())
                              : std::string();
      follow({variable_kind::attribute,
              {},
              std::string(file_.written(target.field("attribute").text())),
              holder,
              elements,
              key});
    } else {
      add({use_kind::escape, target}, true);
    }
  }

  // What a reference's containers in it are: container[key], container.setdefault(key, []), what a
  // loop over it goes through.
  void element_of(const node& reference, const std::string& key, bool certain) {
    const auto parent = reference.parent();
    if (parent.is("subscript") && parent.field("value") == reference) {
      if (is_slice(parent)) return;
      const auto inner = parent.parent();
      const bool goes_on = inner.is("subscript") && inner.field("value") == parent;
      if (key.empty()) {
        classify(parent, certain);
        if (goes_on) {
          const bool before = std::exchange(deep_, true);
          element_below(parent, key, certain);
          deep_ = before;
        }
      } else if (word_of(parent.field("subscript")) == key) {
        classify(parent, certain);
      } else {
        element_below(parent, key, certain);
      }
      return;
    }
    if (parent.is("attribute") && parent.field("object") == reference &&
        parent.parent().is("call") && parent.parent().field("function") == parent) {
      const auto method = parent.field("attribute").text();
      const auto call = parent.parent();
      if (method == "get" || method == "setdefault") {
        classify(call, certain);
      } else if (method == "values" || method == "items") {
        loop_over(call, method == "items");
      } else if (method == "pop" || method == "clear" || method == "popitem") {
        add({use_kind::shrink, call, use_amount::perhaps_one}, certain);
      }
      return;
    }
    if (parent.is("assignment") && parent.field("right") == reference) {
      follow_target(parent.field("left"), true, key);
      return;
    }
    if (is_side_by_side(parent)) {
      if (const auto target = target_beside(reference)) follow_target(target, true, key);
      return;
    }
    if (parent.is("assignment") && parent.field("left") == reference) {
      add({use_kind::assign, parent, use_amount::one, {}, parent.field("right")}, certain);
      return;
    }
    loop_over(reference, false);
  }

  void element_below(const node& reference, const std::string& key, bool certain) {
    if (++depth_ > deepest_element) throw too_many_looks{};
    element_of(reference, key, certain);
    --depth_;
  }

  void loop_over(const node& what, bool of_pairs) {
    const auto loop = what.parent();
    if (!loop.is_any({"for_statement", "for_in_clause"}) || loop.field("right") != what) return;
    const auto targets = targets_of(loop.field("left"));
    if (targets.empty()) return;
    follow_target(of_pairs ? targets.back() : targets.front());
  }

  void classify(node reference, bool certain) {
    while (reference.parent().is("parenthesized_expression")) reference = reference.parent();
    const auto parent = reference.parent();
    at_hand_ = reference;
    if (parent.is("boolean_operator") && is_chosen_value(parent)) {
      add({use_kind::escape, parent}, certain);
    } else if (parent.is("return_statement")) {
      returned(parent, certain);
    } else if (parent.is("attribute") && parent.field("object") == reference) {
      attribute_of(reference, parent, certain);
    } else if (parent.is("subscript") && parent.field("value") == reference) {
      subscript_of(parent, certain);
    } else if (parent.is("assignment")) {
      auto value = parent.field("right");
      for (auto more = value; more.is("assignment"); more = value) {  // items = kept = []
        if (parent.field("left") == reference) follow_target(more.field("left"));
        value = more.field("right");
      }
      for (auto more = parent; more.parent().is("assignment"); more = more.parent()) {
        follow_target(more.parent().field("left"));
      }
      if (parent.field("left") == reference) {
        add({use_kind::assign, parent, use_amount::one, {}, value}, certain);
        came_from(value);
      } else if (parent.field("right") == reference) {
        follow_target(parent.field("left"));
      }
    } else if (is_side_by_side(parent)) {
      const auto target = target_beside(reference);
      target ? follow_target(target) : add({use_kind::escape, parent}, certain);
    } else if (parent.is_any({"pattern_list", "tuple_pattern", "list_pattern"})) {
      assigned_with_others(reference, parent, certain);
    } else if (parent.is("augmented_assignment") && parent.field("left") == reference) {
      const bool adds =
          parent.field("operator").text() == "+=" || parent.field("operator").text() == "|=";
      add({adds ? use_kind::grow : use_kind::escape,
           parent,
           use_amount::many,
           {},
           parent.field("right")},
          certain);
    } else if (parent.is("delete_statement") ||
               (parent.is("expression_list") && parent.parent().is("delete_statement"))) {
      // Another name of it goes, or one of the containers in it.
      const bool is_it = is_first_ && !name_.elements;
      add({is_it ? use_kind::empty : use_kind::read, parent}, certain);
    } else if (parent.is("argument_list")) {
      argument_of(reference, reference, parent.parent(), certain);
    } else if (parent.is("keyword_argument")) {
      argument_of(reference, parent, parent.parent().parent(), certain);
    } else if (parent.is("comparison_operator")) {
      const auto operators = parent.all_of_field("operators");
      const bool asks_in = std::ranges::any_of(
          operators, [](const node& one) { return one.text().find("in") != one.text().npos; });
      add({asks_in ? use_kind::member : use_kind::read, parent}, certain);
    } else if (parent.is("conditional_expression") && parent.child(1) == reference) {
      add({use_kind::read, parent}, certain);  // what is asked is whether it is empty
    } else if (parent.is_any({"list", "tuple", "dictionary", "set", "pair", "lambda",
                              "named_expression", "conditional_expression", "yield"})) {
      kept_elsewhere(parent, certain);
    } else if (parent.is("expression_list") && parent.parent().is("return_statement")) {
      const bool own = is_first_ && name_.kind == variable_kind::local;
      add({own ? use_kind::read : use_kind::escape, parent}, certain);
    } else if (parent.is("default_parameter") && parent.parent().is("lambda_parameters")) {
      add({use_kind::escape, parent}, certain);
    } else if (parent.is("default_parameter") || parent.is("typed_default_parameter")) {
      const auto function = around(parent, {"function_definition"});
      follow({variable_kind::local, function, std::string(parent.field("name").text())});
    } else {
      add({use_kind::read, parent}, certain);
    }
  }

  void came_from(const node& value) {
    if (!is_tensor_) take(origins_of(file_, value, name_.elements));
  }

  void take(const origins& all) {
    for (const auto& one : all.names) follow_target(one);
    for (const auto& one : all.unknown) add({use_kind::escape, one}, true);
  }

  // What a function returns is what its calls are; a property is another name.
  void returned(const node& statement, bool certain) {
    const auto function = file_.function_of(statement);
    const bool own = is_first_ && name_.kind == variable_kind::local && name_.scope == function;
    add({use_kind::read, statement}, certain);
    if (own || is_tensor_ || !function || !returned_.insert(function.begin()).second) return;
    const std::string name(function.field("name").text());
    const auto whole = function.parent();
    const bool is_property =
        whole.is("decorated_definition") && whole.child(0).text() == "@property";
    if (is_property) {
      const std::string holder(file_.class_of(function).field("name").text());
      return follow({variable_kind::attribute, {}, name, holder});
    }
    const auto calls = file_.calls_of(function);
    for (const auto& call : calls) returned_to_.emplace_back(call, certain);
    if (file_.named(name).size() > calls.size() + file_.functions(name).size())
      add({use_kind::escape, statement}, certain);
  }

  // `for one in (losses, scores):` and `return losses, scores` keep nothing.
  void kept_elsewhere(const node& where, bool certain) {
    const auto around_it = where.parent();
    if (around_it.is("for_statement") && around_it.field("right") == where) {
      for (const auto& one : targets_of(around_it.field("left"))) follow_target(one);
      return;
    }
    const auto outside = around(where, {"return_statement", "assignment", "call", "block"});
    const bool gone = outside.is("return_statement") || where.is("conditional_expression");
    add({gone && outside.is("return_statement") ? use_kind::read : use_kind::escape, where},
        certain);
  }

  // a, self.items = 1, []
  void assigned_with_others(const node& reference, const node& pattern, bool certain) {
    const auto whole = pattern.parent();
    if (whole.is("for_statement") || whole.is("for_in_clause")) return;
    const auto lefts = pattern.children();
    const auto rights = unwrapped(whole.field("right")).children();
    const bool each = unwrapped(whole.field("right")).is_any({"expression_list", "tuple"}) &&
                      lefts.size() == rights.size();
    const auto at = std::ranges::find(lefts, reference);
    const auto value = each && at != lefts.end()
                           ? rights[static_cast<std::size_t>(at - lefts.begin())]
                           : whole.field("right");
    add({use_kind::assign, whole, use_amount::one, {}, value}, certain);
    if (each) came_from(value);
  }

  void attribute_of(const node& reference, const node& attribute, bool certain) {
    const auto call = attribute.parent();
    if (!call.is("call") || call.field("function") != attribute) {
      // A method that somebody gets, or a size.
      const auto name = attribute.field("attribute").text();
      const bool grows = is_known(name, known::adds_one) || is_known(name, known::adds_many);
      add({grows ? use_kind::escape : use_kind::read, attribute}, certain);
      return;
    }
    const auto name = attribute.field("attribute").text();
    const auto given = arguments_of(call);
    const auto last = given.empty() ? node() : given.back();
    if (is_known(name, known::adds_one)) {
      add({use_kind::grow, call, use_amount::one, {}, last}, certain);
      // A set keeps one of the same.
      if (name == "add") made_.all.back().key = last;
    } else if (is_known(name, known::adds_many)) {
      add({use_kind::grow, call, use_amount::many, {}, last}, certain);
    } else if (name == "setdefault") {
      add({use_kind::put, call, use_amount::one, given.empty() ? node() : given.front(), last},
          certain);
    } else if (name == "clear") {
      add({use_kind::empty, call}, certain);
    } else if (is_known(name, known::takes_one)) {
      add({use_kind::shrink, call}, certain);
    } else if (name == "pop" || name == "discard") {
      const bool sure = name == "pop" && given.size() < 2;
      add({use_kind::shrink, call, sure ? use_amount::one : use_amount::perhaps_one}, certain);
    } else if (name == "get" || name == "get_nowait") {
      add({is_queue_ ? use_kind::shrink : use_kind::read, call}, certain);
    } else if (name == "qsize" || name == "__len__") {
      add({use_kind::measure, call}, certain);
    } else if (is_known(name, known::only_reads)) {
      add({use_kind::read, call}, certain);
    } else {
      const auto function = file_.callee(call);
      add({function ? use_kind::read : use_kind::escape, call}, certain);
    }
    (void)reference;
  }

  void subscript_of(const node& subscript, bool certain) {
    const auto parent = subscript.parent();
    const auto keys = subscript.all_of_field("subscript");
    // Of container[a, b] the whole is asked about: how many values both have.
    const auto key = keys.size() == 1 ? keys.front() : subscript;
    if (parent.is("assignment") && parent.field("left") == subscript) {
      if (!is_slice(subscript)) {
        add({use_kind::put, parent, use_amount::one, key, parent.field("right")}, certain);
        return;
      }
      // container[:] = value is a new one in the same place.
      const auto [start, stop] = parts_of(subscript);
      add({start || stop ? use_kind::escape : use_kind::assign,
           parent,
           use_amount::many,
           {},
           parent.field("right")},
          certain);
    } else if (parent.is("augmented_assignment") && parent.field("left") == subscript) {
      add({use_kind::put, parent, use_amount::one, key, parent.field("right")}, certain);
    } else if (parent.is("delete_statement") ||
               (parent.is("expression_list") && parent.parent().is("delete_statement"))) {
      if (!is_slice(subscript)) {
        add({use_kind::shrink, parent}, certain);
        return;
      }
      const auto [start, stop] = parts_of(subscript);
      if (!start && !stop) {
        add({use_kind::empty, parent}, certain);
      } else if (start && !stop) {  // del container[limit:]
        add({use_kind::cut, parent, use_amount::many, {}, {}, start}, certain);
      } else if (!start && stop.is("unary_operator")) {  // del container[:-limit]
        add({use_kind::cut, parent, use_amount::many, {}, {}, stop.child(0)}, certain);
      } else {
        add({use_kind::shrink, parent, use_amount::perhaps_one}, certain);
      }
    } else {
      add({use_kind::read, subscript}, certain);
    }
  }

  void argument_of(const node& reference, const node& argument, const node& call, bool certain) {
    const auto function = call.field("function");
    const auto name =
        function.is("attribute") ? function.field("attribute").text() : function.text();
    if (function.text() == "len" && file_.is_of_python(function)) {
      add({use_kind::measure, call}, certain);
      return;
    }
    if (const auto known = file_.callee(call)) {
      const auto parameter = file_.parameter_for(known, call, argument);
      if (parameter.empty()) {
        add({use_kind::escape, call}, certain);
      } else {
        follow({variable_kind::local, known, parameter});
      }
      return;
    }
    if (name == "heappush" || name == "insort" || name == "insort_left" || name == "insort_right") {
      const auto given = arguments_of(call);
      const bool is_container = !given.empty() && given.front() == reference;
      add({is_container ? use_kind::grow : use_kind::escape,
           call,
           use_amount::one,
           {},
           given.empty() ? node() : given.back()},
          certain);
    } else if (name == "heappop") {
      add({use_kind::shrink, call}, certain);
    } else if (name == "heappushpop" || name == "heapreplace" || name == "heapify") {
      add({use_kind::read, call}, certain);
    } else {
      const bool keeps =
          is_known(name, known::passes_on) || (name == "dict" && argument.is("keyword_argument"));
      const bool by_python = is_known(name, known::reads_argument) && file_.is_of_python(function);
      const bool reads = !keeps && (by_python || reads_by_library(file_, function));
      add({reads ? use_kind::read : use_kind::escape, call}, certain);
    }
  }

  const source_file& file_;
  bool is_queue_;
  bool by_alias_ = false;
  bool deep_ = false;
  unsigned depth_ = 0;
  bool is_tensor_;
  node at_hand_;                                    // the reference that is looked at
  variable name_;                                   // of these
  bool is_first_ = true;                            // the variable itself, not another name
  std::set<std::uint32_t> returned_;                // functions that return it
  std::vector<std::pair<node, bool>> returned_to_;  // calls of them, not looked at yet
  use_list made_;
};

}  // namespace

use_list uses_of(const source_file& file, const variable& what, bool is_queue, bool is_tensor) {
  return gatherer(file, is_queue, is_tensor).gather(what);
}

}  // namespace memtrace::program
