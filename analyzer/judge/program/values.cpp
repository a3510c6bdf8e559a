// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

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

[[nodiscard]] bool is_call_of(const node& what, std::string_view name) {
  return what.is("call") && what.field("function").text() == name;
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
    // The first of a name is of what is nearest.
    if (value) by_name_.try_emplace(std::string(one.substr(0, equals)), *value);
  }
}

std::optional<std::int64_t> seen_numbers::of(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? std::nullopt : std::optional(at->second);
}

node values::only_value_of(const node& name) const {
  variable which;
  if (name.is("identifier")) {
    const std::string text(name.text());
    const auto owner = file_.owner_of(name, text);
    if (source_file::has_parameter(owner, text)) return {};  // what a caller gives, too
    which = {owner ? variable_kind::local : variable_kind::global, owner, text};
  } else if (name.is("attribute")) {
    const auto holder = file_.is_self(name.field("object"))
                            ? std::string(file_.class_of(name).field("name").text())
                            : std::string();
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
  const auto last = name.is("attribute") ? name.field("attribute") : name;
  unsigned times = 0;
  if (is_set_by_word(last.text())) return true;
  // from config import *: it may have this name.
  const bool is_global = name.is("identifier") && !file_.owner_of(name, name.text());
  if (is_global && file_.imports_all()) return true;
  for (const auto& one : file_.named(last.text())) {
    if (one.kind() != name.kind()) continue;
    if (around(one, {"case_pattern", "block"}).is("case_pattern")) return true;
    const bool walrus = one.parent().is("named_expression") && one.parent().field("name") == one;
    if (walrus || one.parent().is("as_pattern_target")) return true;
    const auto parent = one.parent();
    const auto pattern =
        parent.is_any({"pattern_list", "tuple_pattern"}) ? parent.parent() : parent;
    const bool is_target =
        pattern.is_any({"assignment", "augmented_assignment", "for_statement"}) &&
        one.is_in(pattern.field("left"));
    if (!is_target) continue;
    if (name.is("identifier") &&
        file_.owner_of(one, one.text()) != file_.owner_of(name, name.text()))
      continue;
    // What others call may come again and again: forward(), on_epoch_end().
    const bool is_written = unwrapped(pattern.field("right")).is("integer");
    const auto whom = name.is("attribute") && !is_written ? source_file::calls_by::others_too
                                                          : source_file::calls_by::the_file;
    if (!pattern.is("assignment") || file_.is_repeated(one, {}, whom)) {
      const bool makes =
          name.is("attribute") && source_file::is_constructor(file_.function_of(one));
      if (!makes || !pattern.is("assignment")) return true;
    }
    const bool makes = source_file::is_constructor(file_.function_of(one));
    if (name.is("attribute") && makes) continue;
    if (++times > 1) return true;
  }
  return false;
}

bool values::is_set_by_word(std::string_view name) const {
  return std::ranges::any_of(file_.quoted(name), [](const node& word) {
    const auto where = word.parent();
    if (where.is("subscript")) {
      const auto of = where.field("value");
      const bool by_dict =
          of.text().ends_with("__dict__") || is_call_of(of, "vars") || is_call_of(of, "globals");
      const auto assigned = where.parent();
      return by_dict && assigned.is_any({"assignment", "augmented_assignment"}) &&
             assigned.field("left") == where;
    }
    if (!where.is("argument_list")) return false;
    const auto function = where.parent().field("function");
    return function.text() == "setattr" || function.field("attribute").text() == "__setattr__";
  });
}

bool values::is_of_another(const node& attribute) const {
  const auto object = attribute.field("object");
  if (file_.is_self(object) || !file_.class_of(attribute)) return false;
  return std::ranges::any_of(
      file_.named(attribute.field("attribute").text()), [&](const node& one) {
        return one.is("attribute") && one.parent().is("assignment") &&
               one.parent().field("left") == one && file_.is_self(one.field("object"));
      });
}

std::optional<std::int64_t> values::of_parameter(const node& name, const node& function,
                                                 unsigned depth) const {
  const auto calls = file_.calls_of(function);
  if (calls.empty() || file_.named(function.field("name").text()).size() != calls.size() + 1)
    return std::nullopt;
  std::optional<std::int64_t> same;
  for (const auto& call : calls) {
    node given;
    for (const auto& one : function.field("parameters").children()) {
      if (one.field("name").text() == name.text()) given = one.field("value");
    }
    for (const auto& one : arguments_of(call)) {
      if (one.is_any({"list_splat", "dictionary_splat"})) return std::nullopt;
      if (file_.parameter_for(function, call, one) == name.text())
        given = one.is("keyword_argument") ? one.field("value") : one;
    }
    const auto value = of(given, depth + 1);
    if (!value || (same && *same != *value)) return std::nullopt;
    same = value;
  }
  return same;
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
  if (is_call_of(what, "min") || is_call_of(what, "max") || is_call_of(what, "int")) {
    std::optional<std::int64_t> made;
    for (const auto& one : arguments_of(what)) {
      const auto value = of(one, depth + 1);
      if (!value) return std::nullopt;
      const bool least = what.field("function").text() == "min";
      made = !made ? *value : least ? std::min(*made, *value) : std::max(*made, *value);
    }
    return made;
  }
  if (is_call_of(what, "len")) return length_of(what.field("arguments").child(0), depth + 1);
  if (!what.is_any({"identifier", "attribute"}) || changes(what)) return std::nullopt;
  const auto name = what.is("attribute") ? what.field("attribute").text() : what.text();
  if (what.is("attribute") && is_of_another(what)) return std::nullopt;
  if (what.is("identifier")) {
    const auto owner = file_.owner_of(what, name);
    const bool comes_again =
        source_file::has_parameter(owner, name) &&
        file_.is_repeated(owner.field("body").child(0), {}, source_file::calls_by::others_too);
    if (comes_again) return of_parameter(what, owner, depth);
  }
  if (const auto seen = seen_.of(name)) return seen;
  if (const auto value = only_value_of(what)) return of(value, depth + 1);
  return std::nullopt;
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
  if (what.is("dictionary")) return static_cast<std::int64_t>(what.children().size());
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
  if (is_call_of(what, "range")) {
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
    if (is_call_of(what, same)) return length_of(what.field("arguments").child(0), depth + 1);
  }
  if (is_call_of(what, "zip")) {  // as long as the shortest
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
    if (!value) return std::nullopt;
    const auto name = what.is("attribute") ? what.field("attribute").text() : what.text();
    const bool is_left_alone = std::ranges::none_of(file_.named(name), [&](const node& one) {
      const auto method = one.parent();
      // A function of the file may do anything with it.
      if (method.is("argument_list") && file_.callee(method.parent())) return true;
      // Other places, or other things in them.
      if (method.is("subscript") && method.field("value") == one &&
          method.parent().is_any({"assignment", "augmented_assignment", "delete_statement"}) &&
          method.parent().field("right") != method) {
        return true;
      }
      return method.is("attribute") && method.field("object") == one &&
             method.parent().is("call") && method.parent().field("function") == method;
    });
    return is_left_alone ? length_of(value, depth + 1) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::int64_t> values::rounds_of(const node& loop) const {
  return loop.is("for_statement") ? length_of(loop.field("right")) : std::nullopt;
}

bool values::is_counter(const node& expression) const {
  const auto what = unwrapped(expression);
  if (!what.is_any({"identifier", "attribute"})) return false;
  const auto last = what.is("attribute") ? what.field("attribute").text() : what.text();
  for (const auto& one : file_.named(last)) {
    const auto parent = one.parent();
    if (parent.is("augmented_assignment") && parent.field("left") == one &&
        parent.field("operator").text() == "+=" && parent.field("right").text() == "1") {
      return true;
    }
    // for step in range(…), for step, batch in enumerate(…), in itertools.count()
    const auto loop = parent.is_any({"pattern_list", "tuple_pattern"}) ? parent.parent() : parent;
    if (!loop.is("for_statement") || !one.is_in(loop.field("left")) || !what.is_in(loop)) continue;
    const auto through = unwrapped(loop.field("right"));
    const auto name = through.field("function");
    const auto called = name.is("attribute") ? name.field("attribute").text() : name.text();
    const bool is_first = targets_of(loop.field("left")).front() == one;
    if (is_first && (called == "range" || called == "enumerate" || called == "count")) return true;
  }
  return false;
}

}  // namespace memtrace::program
