// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "analyzer/judge/program/rules.h"
#include "analyzer/judge/program/unwritten.h"
#include "analyzer/judge/program/uses.h"

namespace memtrace::program {

namespace {

constexpr unsigned deepest = 8;
constexpr std::int64_t largest = std::int64_t{1} << 53;

[[nodiscard]] std::optional<std::int64_t> integer(std::string_view text) {
  std::string digits;
  for (const char letter : text) {
    if (letter != '_') digits += letter;
  }
  int base = 10;
  std::string_view rest = digits;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    base = 16;
    rest.remove_prefix(2);
  }
  std::int64_t made = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), made, base);
  if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
  return made;
}

[[nodiscard]] std::optional<std::int64_t> calculated(std::string_view sign, std::int64_t a,
                                                     std::int64_t b) {
  if (std::abs(a) > largest || std::abs(b) > largest) return std::nullopt;
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") {
    const auto made = static_cast<double>(a) * static_cast<double>(b);
    if (std::abs(made) > static_cast<double>(largest)) return std::nullopt;
    return a * b;
  }
  if (b <= 0 || a < 0) return std::nullopt;
  if (sign == "//") return a / b;
  if (sign == "%") return a % b;
  if (sign == "**" && std::pow(a, b) < static_cast<double>(largest)) {
    return static_cast<std::int64_t>(std::pow(a, b));
  }
  return std::nullopt;
}

[[nodiscard]] bool is_call_of(const source_file& file, const node& what, std::string_view name) {
  const auto function = what.field("function");
  return what.is("call") && function.text() == name && file.is_of_python(function);
}

// Store, cls, type(self): the class of an object.
[[nodiscard]] bool is_class(const source_file& file, const node& object) {
  if (object.is("attribute")) return object.field("attribute").text() == "__class__";
  if (object.is("call")) return is_call_of(file, object, "type");
  return object.is("identifier") && !file.owner_of(object, object.text()) &&
         !file.classes(object.text()).empty();
}

}  // namespace

seen_numbers::seen_numbers(std::string_view text) {
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto one = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto equals = one.find('=');
    if (equals == one.npos) continue;
    const auto value = integer(one.substr(equals + 1));
    if (!value) continue;
    const auto [at, is_new] =
        by_name_.try_emplace(std::string(one.substr(0, equals)), number{*value, true});
    if (!is_new && at->second.nearest != *value) at->second.is_only = false;
  }
}

std::optional<std::int64_t> seen_numbers::of(std::string_view name, bool is_of_object) const {
  const auto at = by_name_.find(name);
  if (at == by_name_.end() || (!at->second.is_only && !is_of_object)) return std::nullopt;
  return at->second.nearest;
}

node values::only_value_of(const node& name) const {
  variable which;
  if (name.is("identifier")) {
    const std::string text(name.text());
    const auto owner = file_.owner_of(name, text);
    if (source_file::has_parameter(owner, text)) return {};  // what a caller gives, too
    which = {owner ? variable_kind::local : variable_kind::global, owner, text};
  } else if (name.is("attribute")) {
    const auto object = name.field("object");
    std::string holder;
    if (object.is("identifier") && is_class(file_, object)) {
      holder = object.text();
    } else if (file_.is_self(object) || is_class(file_, object)) {
      holder = file_.class_of(name).field("name").text();
    }
    which = {variable_kind::attribute, {}, std::string(name.field("attribute").text()), holder};
  } else {
    return {};
  }
  node found;
  unsigned times = 0;
  for (const auto& one : file_.named(which.name)) {
    if (!means(file_, one, which)) continue;
    if (around(one, {"case_pattern", "block"}).is("case_pattern")) return {};
    const auto whole = statement_of(one);
    for (auto inner = one.parent(); inner && inner.is_in(whole); inner = inner.parent()) {
      const bool assigns = inner.is_any({"assignment", "augmented_assignment", "for_statement",
                                         "for_in_clause", "as_pattern", "named_expression"});
      if (!assigns) continue;
      const auto left = inner.is("named_expression") ? inner.field("name") : inner.field("left");
      const auto targets = targets_of(inner.is("as_pattern") ? inner : left);
      const auto at = std::ranges::find(targets, one);
      if (at == targets.end()) continue;
      ++times;
      if (!inner.is("assignment")) return {};
      const auto right = unwrapped(inner.field("right"));
      if (targets.size() == 1) {
        found = right;
      } else {
        const auto parts = right.children();
        const bool each =
            right.is_any({"expression_list", "tuple"}) && parts.size() == targets.size();
        if (!each) return {};
        found = parts[static_cast<std::size_t>(at - targets.begin())];
      }
    }
  }
  return times == 1 ? found : node();
}

// Given another value outside of what makes the object, or more than once.
bool values::changes(const node& name) const {
  const bool is_attribute = name.is("attribute");
  const auto text = (is_attribute ? name.field("attribute") : name).text();
  const auto owner = is_attribute ? node() : file_.owner_of(name, text);
  if (owner && !owner.is("function_definition")) return true;
  if (is_set_by_word(text) || is_given_unwritten(file_, name)) return true;
  // from config import *: it may have this name.
  if (!is_attribute && !owner && (file_.imports_all() || file_.is_library(text))) return true;
  if (!owner && !file_.functions(text).empty()) return true;  // a property
  unsigned times = 0;
  for (const auto& one : file_.named(text)) {
    const auto giver = given_by(one);
    if (!giver || one.kind() != name.kind()) continue;
    if (!is_attribute && file_.owner_of(one, text) != owner) continue;
    if (!giver.is("assignment")) return true;
    if (!giver.field("right")) continue;  // size: int
    if (is_attribute && source_file::is_constructor(file_.function_of(one))) continue;
    // What others call may come again and again: forward(), on_epoch_end().
    const bool is_written = unwrapped(giver.field("right")).is("integer");
    const auto whom = is_attribute && !is_written ? source_file::calls_by::others_too
                                                  : source_file::calls_by::the_file;
    if (file_.is_repeated(one, {}, whom) || ++times > 1) return true;
  }
  return false;
}

bool values::is_set_by_word(std::string_view name) const {
  return std::ranges::any_of(file_.quoted(name), [&](const node& word) {
    auto where = word.parent();
    if (where.is("subscript")) {
      const auto of = where.field("value");
      const bool by_dict = of.text().ends_with("__dict__") || is_call_of(file_, of, "vars") ||
                           is_call_of(file_, of, "globals");
      const auto assigned = where.parent();
      return by_dict && assigned.is_any({"assignment", "augmented_assignment"}) &&
             assigned.field("left") == where;
    }
    // vars(self).update({"capacity": …})
    if (where.is("pair") && where.field("key") == word) where = where.parent().parent();
    if (!where.is("argument_list")) return false;
    const auto function = where.parent().field("function");
    const auto last = function.field("attribute").text();
    return function.text() == "setattr" || last == "__setattr__" || last == "object" ||
           (last == "update" && !function.field("object").is("identifier"));
  });
}

bool values::is_of_another(const node& attribute) const {
  const auto object = attribute.field("object");
  if (file_.is_self(object) || is_class(file_, object) || !file_.class_of(attribute)) return false;
  return std::ranges::any_of(
      file_.named(attribute.field("attribute").text()), [&](const node& one) {
        return one.is("attribute") && one.parent().is("assignment") &&
               one.parent().field("left") == one && file_.is_self(one.field("object"));
      });
}

std::optional<std::int64_t> values::of_parameter(const node& name, const node& function,
                                                 unsigned depth) const {
  const auto calls = all_calls_of(file_, function);
  if (!calls) return std::nullopt;
  const bool makes = source_file::is_constructor(function);
  rely_on((makes ? function.scope() : function).field("name").text());
  std::optional<std::int64_t> same;
  for (const auto& call : *calls) {
    const auto given = given_for(name.text(), function, call);
    const auto value = given ? of(*given, depth + 1) : std::nullopt;
    if (!value || (same && *same != *value)) return std::nullopt;
    same = value;
  }
  return same;
}

// What a call gives for a parameter, or its default; none: it may be anything.
std::optional<node> values::given_for(std::string_view parameter, const node& function,
                                      const node& call) const {
  node given;
  for (const auto& one : function.field("parameters").children()) {
    if (one.field("name").text() == parameter) given = one.field("value");
  }
  for (const auto& one : arguments_of(call)) {
    if (one.is_any({"list_splat", "dictionary_splat"})) return std::nullopt;
    if (file_.parameter_for(function, call, one) == parameter)
      given = one.is("keyword_argument") ? one.field("value") : one;
  }
  return given ? std::optional(given) : std::nullopt;
}

bool values::may_be_number(const node& expression, unsigned depth) const {
  const auto what = unwrapped(expression);
  if (!what || depth > deepest) return true;
  if (what.is_any({"float", "none", "string", "list", "dictionary", "tuple", "set", "lambda"}))
    return false;
  if (is_call_of(file_, what, "float")) return false;
  if (what.is("conditional_expression")) {
    const auto parts = what.children();
    return parts.size() == 3 && may_be_number(parts[0], depth + 1) &&
           may_be_number(parts[2], depth + 1);
  }
  if (what.is("attribute")) {  // math.inf, sys.maxsize
    const auto last = what.field("attribute").text();
    const auto package = file_.package_of(what.field("object").text());
    if (!package.empty() && (last == "inf" || last == "nan" || last == "maxsize")) return false;
  }
  if (!what.is("identifier")) return true;
  const auto owner = file_.owner_of(what, what.text());
  if (owner.is("function_definition") && source_file::has_parameter(owner, what.text())) {
    const auto calls = file_.calls_of(owner);
    return std::ranges::all_of(calls, [&](const node& call) {
      const auto given = given_for(what.text(), owner, call);
      return !given || may_be_number(*given, depth + 1);
    });
  }
  if (file_.is_library(what.text()) && (what.text() == "inf" || what.text() == "nan")) return false;
  const auto value = only_value_of(what);
  return !value || may_be_number(value, depth + 1);
}

std::optional<std::int64_t> values::of_name(const node& what, unsigned depth) const {
  const bool is_attribute = what.is("attribute");
  const auto name = (is_attribute ? what.field("attribute") : what).text();
  if (changes(what) || (is_attribute && is_of_another(what))) return std::nullopt;
  rely_on(name);
  const auto owner = is_attribute ? node() : file_.owner_of(what, name);
  const bool is_parameter =
      owner.is("function_definition") && source_file::has_parameter(owner, name);
  const bool comes_again = is_parameter && file_.is_repeated(owner.field("body").child(0), {},
                                                             source_file::calls_by::others_too);
  if (comes_again) return of_parameter(what, owner, depth);
  const bool is_own = is_attribute && file_.is_self(what.field("object"));
  const auto seen = seen_.of(name, is_own);
  // What the file says by itself is surer than a number of this name that was seen somewhere.
  const auto value = is_parameter ? node() : only_value_of(what);
  if (value.is("integer")) {
    const auto written = integer(value.text());
    const bool is_of_class = is_attribute && value.scope().is("class_definition");
    if (written && is_of_class && is_given_by_constructor(value, *written, depth))
      return std::nullopt;
    // Somebody has given this very object another one.
    return is_own && seen && seen != written ? std::nullopt : written;
  }
  if (!may_be_number(is_parameter ? what : value, depth)) return std::nullopt;
  if (seen) return seen;
  if (is_parameter) return of_parameter(what, owner, depth);
  return value ? of(value, depth + 1) : std::nullopt;
}

bool values::is_given_by_constructor(const node& in_class, std::int64_t value,
                                     unsigned depth) const {
  const auto made = in_class.scope();
  const auto field = around(in_class, {"assignment"}).field("left").text();
  const auto name = made.field("name").text();
  for (const auto& one : file_.functions("__init__")) {
    if (one.scope() == made) return false;
  }
  // Config(size=9), replace(config, size=9)
  for (const auto& one : file_.named(field)) {
    const auto argument = one.parent();
    if (!argument.is("keyword_argument") || argument.field("name") != one) continue;
    const auto call = argument.parent().parent();
    const auto function = call.field("function");
    const bool is_others =
        file_.callee(call) || (function.is("identifier") && function.text() != name &&
                               !file_.classes(function.text()).empty());
    if (!is_others && of(argument.field("value"), depth + 1) != value) return true;
  }
  if (!made.parent().is("decorated_definition") && !made.field("superclasses")) return false;
  if (file_.is_made_by_others(name)) return true;
  rely_on(name);
  for (const auto& one : file_.named(name)) {
    if (one.parent() == made || around(one, {"type", "block"}).is("type")) continue;
    const auto call = one.parent();
    if (call.is("attribute")) continue;  // Config.size
    if (!call.is("call") || call.field("function") != one) return true;
    const auto given = arguments_of(call);
    if (std::ranges::any_of(given, [](const node& each) { return !each.is("keyword_argument"); }))
      return true;
  }
  return false;
}

std::optional<std::int64_t> values::of(const node& expression, unsigned depth) const {
  const auto what = unwrapped(expression);
  if (!what || depth > deepest) return std::nullopt;
  if (what.is("integer")) return integer(what.text());
  if (what.is("binary_operator")) {
    const auto left = of(what.field("left"), depth + 1);
    const auto right = of(what.field("right"), depth + 1);
    if (!left || !right) return std::nullopt;
    return calculated(what.field("operator").text(), *left, *right);
  }
  if (what.is("unary_operator") && what.text().starts_with('-')) {
    const auto inner = of(what.child(0), depth + 1);
    return inner ? std::optional(-*inner) : std::nullopt;
  }
  if (is_call_of(file_, what, "min") || is_call_of(file_, what, "max") ||
      is_call_of(file_, what, "int")) {
    std::optional<std::int64_t> made;
    for (const auto& one : arguments_of(what)) {
      const auto value = of(one, depth + 1);
      if (!value) return std::nullopt;
      const bool least = what.field("function").text() == "min";
      made = !made ? *value : least ? std::min(*made, *value) : std::max(*made, *value);
    }
    return made;
  }
  if (is_call_of(file_, what, "len")) return length_of(what.field("arguments").child(0), depth + 1);
  return what.is_any({"identifier", "attribute"}) ? of_name(what, depth) : std::nullopt;
}

std::optional<std::int64_t> values::length_of(const node& expression, unsigned depth) const {
  const auto what = unwrapped(expression);
  if (!what || depth > deepest) return std::nullopt;
  if (what.is_any({"list", "tuple", "set"})) {
    const auto all = what.children();
    const bool plain =
        std::ranges::none_of(all, [](const node& one) { return one.is("list_splat"); });
    return plain ? std::optional(static_cast<std::int64_t>(all.size())) : std::nullopt;
  }
  if (what.is("dictionary")) {
    const auto all = what.children();
    const bool plain = std::ranges::all_of(all, [](const node& one) { return one.is("pair"); });
    return plain ? std::optional(static_cast<std::int64_t>(all.size())) : std::nullopt;
  }
  if (what.is("string")) {
    std::int64_t letters = 0;
    for (const auto& one : what.children()) {
      if (one.is("interpolation")) return std::nullopt;
      if (one.is("string_content")) letters += static_cast<std::int64_t>(one.text().size());
    }
    return letters;
  }
  if (what.is("list_comprehension")) {
    const auto parts = what.children();
    if (parts.size() != 2 || !parts[1].is("for_in_clause")) return std::nullopt;
    return length_of(parts[1].field("right"), depth + 1);
  }
  if (is_call_of(file_, what, "range")) {
    const auto given = arguments_of(what);
    if (given.empty() || given.size() > 3) return std::nullopt;
    const auto first = of(given[0], depth + 1);
    if (given.size() == 1) return first;
    const auto second = of(given[1], depth + 1);
    const auto stride =
        given.size() == 3 ? of(given[2], depth + 1) : std::optional<std::int64_t>(1);
    if (!first || !second || !stride || *stride <= 0) return std::nullopt;
    return std::max<std::int64_t>(0, (*second - *first + *stride - 1) / *stride);
  }
  for (const auto* const same : {"enumerate", "reversed", "list", "tuple", "sorted", "iter"}) {
    if (is_call_of(file_, what, same))
      return length_of(what.field("arguments").child(0), depth + 1);
  }
  if (is_call_of(file_, what, "zip")) {  // as long as the shortest
    std::optional<std::int64_t> shortest;
    for (const auto& one : arguments_of(what)) {
      const auto length = one.is("keyword_argument") ? std::nullopt : length_of(one, depth + 1);
      if (length && (!shortest || *length < *shortest)) shortest = length;
    }
    return shortest;
  }
  if (what.is("binary_operator") && what.field("operator").text() == "*") {  // [None] * 40
    const auto left = length_of(what.field("left"), depth + 1);
    const auto right = of(what.field("right"), depth + 1);
    return left && right ? calculated("*", *left, *right) : std::nullopt;
  }
  if (what.is_any({"identifier", "attribute"})) {
    // One that gets longer later has another length.
    const auto value = only_value_of(what);
    return value && is_left_alone(what) ? length_of(value, depth + 1) : std::nullopt;
  }
  return std::nullopt;
}

bool values::is_left_alone(const node& name) const {
  const bool is_attribute = name.is("attribute");
  const auto text = (is_attribute ? name.field("attribute") : name).text();
  const auto owner = is_attribute ? node() : file_.owner_of(name, text);
  if (is_set_by_word(text) || is_given_unwritten(file_, name)) return false;
  if (!is_attribute && !owner && (file_.imports_all() || file_.is_library(text))) return false;
  rely_on(text);
  return std::ranges::all_of(file_.named(text), [&](const node& one) {
    if (one.kind() != name.kind()) return true;
    if (!is_attribute && file_.owner_of(one, text) != owner) return true;
    const auto user = one.parent();
    if (given_by(one) || user.is_any({"for_statement", "for_in_clause", "comparison_operator",
                                      "interpolation", "not_operator", "list_splat"})) {
      return true;
    }
    if (user.is_any({"if_statement", "while_statement", "keyword_argument"}))
      return user.is("keyword_argument") ? user.field("name") == one : true;
    if (user.is("subscript") && user.field("value") == one) {
      const auto giver = user.parent();
      return !giver.is_any(
                 {"assignment", "augmented_assignment", "delete_statement", "expression_list"}) ||
             (giver.is("assignment") && giver.field("right") == user);
    }
    if (user.is("subscript")) return true;  // as a key
    if (user.is("attribute")) {
      return user.parent().is("call") && user.parent().field("function") == user &&
             is_known(user.field("attribute").text(), known::only_reads);
    }
    if (!user.is("argument_list")) return false;
    const auto call = user.parent();
    const auto function = call.field("function");
    if (file_.callee(call)) return false;
    if (function.text() == "len" || is_known(function.text(), known::reads_argument))
      return file_.is_of_python(function);
    const auto last = function.field("attribute").text();
    return last != "shuffle" && reads_by_library(file_, function);
  });
}

std::optional<std::int64_t> values::rounds_of(const node& loop) const {
  return loop.is("for_statement") ? length_of(loop.field("right")) : std::nullopt;
}

bool values::is_counter(const node& expression) const {
  const auto what = unwrapped(expression);
  if (!what.is_any({"identifier", "attribute"})) return false;
  const bool is_attribute = what.is("attribute");
  const auto last = (is_attribute ? what.field("attribute") : what).text();
  const auto owner = is_attribute ? node() : file_.owner_of(what, last);
  for (const auto& one : file_.named(last)) {
    if (one.kind() != what.kind()) continue;
    if (!is_attribute && file_.owner_of(one, last) != owner) continue;
    const auto giver = given_by(one);
    if (giver.is("augmented_assignment") && giver.field("operator").text() == "+=" &&
        giver.field("right").text() == "1") {
      return true;
    }
    // for step in range(…), for step, batch in enumerate(…), in itertools.count()
    if (!giver.is("for_statement") || !what.is_in(giver)) continue;
    const auto through = unwrapped(giver.field("right"));
    const auto name = through.field("function");
    const auto called = name.is("attribute") ? name.field("attribute").text() : name.text();
    const bool is_first = targets_of(giver.field("left")).front() == one;
    if (is_first && (called == "range" || called == "enumerate" || called == "count")) return true;
  }
  return false;
}

}  // namespace memtrace::program
