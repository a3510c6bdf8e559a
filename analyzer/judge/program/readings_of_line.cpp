// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/judge/program/prove.h"
#include "analyzer/judge/program/readings.h"

namespace memtrace::program {

namespace {

// What containers get of this line: of list.append(made) the list.
class fed {
 public:
  explicit fed(const source_file& file) : file_(file) {}

  void look_at(std::uint32_t line) {
    for (const auto& one : file_.root().all()) {
      if (one.line() > line || one.last_line() < line) continue;
      if (one.is("call")) climb(one);
    }
  }
  [[nodiscard]] const std::vector<variable>& variables() const { return variables_; }
  // Comprehensions, and calls such as list(generator()).
  [[nodiscard]] const std::vector<node>& lists() const { return lists_; }

 private:
  void climb(node at) {
    for (auto up = at.parent(); up; at = up, up = up.parent()) {
      if (up.is_any({"list_comprehension", "dictionary_comprehension"})) return add_list(up);
      if (up.is("argument_list")) {
        const auto function = up.parent().field("function");
        const auto method = function.field("attribute").text();
        const bool adds = is_known(method, known::adds_one) || is_known(method, known::adds_many);
        if (adds) return add(function.field("object"));
      }
      if (up.is("yield")) return yielded(file_.function_of(up));
      if (up.is("assignment")) {
        const auto left = up.field("left");
        return left.is("subscript") ? add(left.field("value")) : through(left);
      }
      if (!up.is_any({"argument_list", "call", "attribute", "tuple", "pair", "keyword_argument",
                      "parenthesized_expression", "subscript", "expression_list", "binary_operator",
                      "list", "dictionary"}))
        return;
    }
  }

  // list(each(loader)) has what it yields; a loop over it may keep it or not.
  void yielded(const node& function) {
    const auto calls = function ? file_.calls_of(function) : std::vector<node>();
    for (const auto& call : calls) {
      const auto outer = call.parent().is("argument_list") ? call.parent().parent() : node();
      const auto name = outer.field("function");
      const bool makes = name.text() == "list" || name.text() == "tuple";
      if (makes && file_.is_of_python(name)) add_list(outer);
    }
  }

  // out = model(x); outs.append(out)
  void through(const node& names) {
    for (const auto& target : targets_of(names)) {
      if (!target.is("identifier") || !passed_.insert(std::string(target.text())).second) continue;
      const auto owner = file_.owner_of(target, target.text());
      const auto uses = file_.named(target.text());
      for (const auto& use : uses) {
        if (use.is("identifier") && use.begin() > target.begin() && !given_by(use) &&
            file_.owner_of(use, target.text()) == owner)
          climb(use);
      }
    }
  }

  void add_list(const node& one) {
    if (std::ranges::find(lists_, one) == lists_.end()) lists_.push_back(one);
  }

  void add(node what) {
    while (what.is("subscript")) what = what.field("value");
    variable one;
    if (what.is("identifier")) {
      const std::string name(what.text());
      const auto owner = file_.owner_of(what, name);
      one = {owner ? variable_kind::local : variable_kind::global, owner, name};
    } else if (what.is("attribute")) {
      one = {variable_kind::attribute, {}, std::string(what.field("attribute").text())};
    } else {
      return;
    }
    if (std::ranges::find(variables_, one) == variables_.end())
      variables_.push_back(std::move(one));
  }

  const source_file& file_;
  std::set<std::string> passed_;
  std::vector<variable> variables_;
  std::vector<node> lists_;
};

}  // namespace

readings readings_of_line(const source_file& file, std::uint32_t line) {
  file.parsed().allow(most_looks);
  try {
    fed found(file);
    found.look_at(line);
    readings made;
    bool is_known = true;
    const auto take = [&](const readings& read) {
      is_known = is_known && read.how != read_how::not_known;
      const bool says_more = read.how != read_how::never || made.how != read_how::alone;
      if (made.how != read_how::with_others && says_more) made = read;
    };
    for (const auto& one : found.variables()) take(readings_of(file, uses_of(file, one, false)));
    for (const auto& one : found.lists()) take(readings_of(file, one));
    return is_known || made.how == read_how::with_others ? made : readings();
  } catch (const too_many_looks&) {
    return {};
  }
}

}  // namespace memtrace::program
