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

  [[nodiscard]] std::vector<variable> at(std::uint32_t line) {
    for (const auto& one : file_.root().all()) {
      if (one.line() > line || one.last_line() < line) continue;
      if (one.is("call")) climb(one);
    }
    return std::move(found_);
  }

 private:
  void climb(node at) {
    for (auto up = at.parent(); up; at = up, up = up.parent()) {
      if (up.is_any({"list_comprehension", "dictionary_comprehension"})) is_kept_ = true;
      if (up.is("argument_list")) {
        const auto function = up.parent().field("function");
        const auto method = function.field("attribute").text();
        const bool adds = is_known(method, known::adds_one) || is_known(method, known::adds_many);
        if (adds) return add(function.field("object"));
      }
      // A function that returns a list, or yields what somebody makes one of.
      if ((up.is("return_statement") && is_kept_) || up.is("yield")) {
        const auto function = file_.function_of(up);
        const bool is_new =
            function && passed_.insert("return " + std::to_string(function.id())).second;
        const auto calls = is_new ? file_.calls_of(function) : std::vector<node>();
        is_kept_ = true;
        for (const auto& call : calls) climb(call);
        return;
      }
      if (up.is("assignment")) {
        const auto left = up.field("left");
        if (left.is("subscript")) return add(left.field("value"));
        if (is_kept_) return add(left);
        return through(left);
      }
      if (!up.is_any({"argument_list", "call", "attribute", "tuple", "pair", "keyword_argument",
                      "parenthesized_expression", "subscript", "list_comprehension",
                      "expression_list", "dictionary_comprehension", "binary_operator", "list",
                      "dictionary"}))
        return;
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
    if (std::ranges::find(found_, one) == found_.end()) found_.push_back(std::move(one));
  }

  const source_file& file_;
  bool is_kept_ = false;
  std::set<std::string> passed_;
  std::vector<variable> found_;
};

}  // namespace

readings readings_of_line(const source_file& file, std::uint32_t line) {
  file.parsed().allow(most_looks);
  try {
    readings made;
    bool is_known = true;
    for (const auto& one : fed(file).at(line)) {
      const auto read = readings_of(file, uses_of(file, one, false));
      if (read.how == read_how::with_others) return read;
      if (read.how == read_how::not_known) is_known = false;
      if (read.how != read_how::never || made.how != read_how::alone) made = read;
    }
    return is_known ? made : readings();
  } catch (const too_many_looks&) {
    return {};
  }
}

}  // namespace memtrace::program
