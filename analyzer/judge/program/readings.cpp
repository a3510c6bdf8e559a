// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/readings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/judge/program/later_uses.h"

namespace memtrace::program {

namespace {

template <std::size_t N>
[[nodiscard]] bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Methods and attributes of a tensor that give a number or a copy on a device that they name, and are
// asked for on any device.
constexpr std::array<std::string_view, 18> ends_there = {
    "item", "tolist",   "cpu",      "numpy",   "cuda",          "size",
    "dim",  "numel",    "shape",    "ndim",    "dtype",         "device",
    "keys", "backward", "data_ptr", "is_cuda", "requires_grad", "nelement"};
// Without arguments: one element, which PyTorch computes with on any device.
constexpr std::array<std::string_view, 10> to_number = {"mean", "sum", "max",  "min",    "norm",
                                                        "std",  "var", "prod", "median", "all"};
// Functions of Python's that give what they were given, or its elements.
constexpr std::array<std::string_view, 11> passes_through = {
    "list", "tuple", "sorted", "reversed", "iter", "next", "sum", "max", "min", "abs", "dict"};

class follower {
 public:
  explicit follower(const source_file& file) : file_(file) {}

  [[nodiscard]] readings of(const use_list& uses) {
    containers_ = uses.names;
    for (const auto& one : uses.all) add(one);
    return decide(uses.names.front());
  }

  [[nodiscard]] readings of(const node& list) {
    climb(list);
    return decide({variable_kind::attribute, {}, {}});
  }

 private:
  void add(const use& one) {
    switch (one.kind) {
      case use_kind::read:
      case use_kind::escape:
        // setattr(self, word, …), or a name that was given something else
        one.what ? climb(one.what) : give_up();
        break;
      case use_kind::shrink:
        if (!one.at.parent().is("expression_statement")) climb(one.at);
        break;
      default:
        break;
    }
  }

  [[nodiscard]] readings decide(const variable& what) {
    for (std::size_t i = 0; i < given_.size(); ++i) follow(given_[i]);
    std::set<std::uint32_t> lines;
    for (const auto& [line, beside] : beside_) {
      for (const auto& one : beside) {
        if (is_ours(one)) continue;
        may_be_number(one) ? give_up() : static_cast<void>(lines.insert(line));
      }
    }
    if (!lines.empty()) return {read_how::with_others, {}, *lines.begin(), lines.size() > 1};
    if (is_lost_) return {};
    if (is_read_) return {read_how::alone};
    // An attribute may be read by whoever has the object.
    const bool is_seen = what.kind != variable_kind::attribute && !what.of_module;
    // A weak dictionary has it as long as the container does.
    const bool may_be_read = reads_by_word(file_) || !file_.named("weakref").empty();
    return {is_seen && !may_be_read ? read_how::never : read_how::not_known};
  }

  // A parameter, of which calls decide what it is.
  [[nodiscard]] bool may_be_number(const node& what) const {
    if (!what.is("identifier") || products_.contains(what.id())) return false;
    const auto owner = file_.owner_of(what, what.text());
    return owner && source_file::has_parameter(owner, what.text());
  }

  void give_up() { is_lost_ = true; }

  // A value of which something is computed: until when, and with what beside it.
  void climb(node at) {
    for (unsigned depth = 0; depth < 100; ++depth) {
      if (!seen_.insert(at.id()).second) return;
      const auto up = at.parent();
      if (up.is("expression_statement")) return;
      is_read_ = true;
      const auto next = above(at, up);
      if (!next) return;
      at = *next;
    }
    give_up();
  }

  // The expression that has a tensor made of this one; none: it ends here.
  [[nodiscard]] std::optional<node> above(const node& at, const node& up) {
    if (up.is_any({"parenthesized_expression", "await", "list_splat", "unary_operator", "list",
                   "tuple", "set", "dictionary", "pair", "list_comprehension", "set_comprehension",
                   "dictionary_comprehension", "generator_expression", "expression_list"})) {
      return is_side_by_side(up) && target_beside(at) ? take(target_beside(at)) : std::optional(up);
    }
    if (up.is("conditional_expression"))
      return up.child(1) == at ? std::nullopt : std::optional(up);
    if (up.is("boolean_operator")) return is_chosen_value(up) ? std::optional(up) : std::nullopt;
    if (up.is("attribute")) return of_attribute(up);
    if (up.is("subscript")) return of_subscript(at, up);
    if (up.is("binary_operator")) {
      const auto left = up.field("left");
      const auto other = left == at ? up.field("right") : left;
      if (up.field("operator").text() == "@") products_.insert(other.id());  // of tensors alone
      meets(up, {other});
      return up;
    }
    if (up.is("comparison_operator")) {
      std::vector<node> beside;
      for (const auto& one : up.children()) {
        if (one != at) beside.push_back(one);
      }
      const auto signs = up.all_of_field("operators");
      const bool is_asked = std::ranges::any_of(signs, [](const node& sign) {
        return sign.text().find("in") != sign.text().npos || sign.text().find("is") == 0;
      });
      if (is_asked) return std::nullopt;
      meets(up, std::move(beside));
      return up;
    }
    if (up.is("augmented_assignment")) {
      const auto left = up.field("left");
      meets(up, {left == at ? up.field("right") : left});
      return take(left);
    }
    if (up.is("assignment")) {
      const auto left = up.field("left");
      // Elements are copied from any device, but for those that a tensor selects.
      if (left.is("subscript")) meets(up, left.all_of_field("subscript"));
      return up.field("right") == at ? take(left) : std::nullopt;
    }
    if (up.is("named_expression")) {
      take(up.field("name"));
      return up;
    }
    if (up.is_any({"for_statement", "for_in_clause"}))
      return up.field("right") == at ? take(up.field("left")) : std::nullopt;
    if (up.is("keyword_argument")) return of_argument(at, up, up.parent().parent());
    if (up.is("argument_list")) return of_argument(at, at, up.parent());
    if (up.is("return_statement")) return returned(up);
    if (up.is_any({"interpolation", "format_expression", "if_statement", "while_statement",
                   "elif_clause", "assert_statement", "delete_statement", "not_operator",
                   "if_clause", "slice"}))
      return std::nullopt;
    give_up();
    return std::nullopt;
  }

  [[nodiscard]] std::optional<node> of_attribute(const node& attribute) {
    const auto name = attribute.field("attribute").text();
    if (is_one_of(name, ends_there)) return std::nullopt;
    const auto call = attribute.parent();
    if (!call.is("call") || call.field("function") != attribute) return attribute;
    const auto given = arguments_of(call);
    const bool converts = std::ranges::all_of(
        given, [&](const node& one) { return !one.is("string") && is_plain(one, 0); });
    if (name == "to" && !converts) return std::nullopt;
    if (is_known(name, known::adds_one) || is_known(name, known::adds_many)) return std::nullopt;
    // In a list they are joined to one tensor.
    const bool is_listed =
        call.parent().is_any({"list", "tuple", "list_comprehension", "generator_expression"});
    if (given.empty() && is_one_of(name, to_number) && !is_listed) return std::nullopt;
    meets(call, given);
    return call;
  }

  [[nodiscard]] std::optional<node> of_subscript(const node& at, const node& subscript) {
    if (subscript.field("value") != at) return std::nullopt;  // an index on the host will do
    const auto whole = subscript.parent();
    const bool is_written = whole.is("assignment") && whole.field("left") == subscript;
    if (is_written) return std::nullopt;  // copied there from any device
    meets(subscript, subscript.all_of_field("subscript"));
    return subscript;
  }

  [[nodiscard]] std::optional<node> of_argument(const node& at, const node& argument,
                                                const node& call) {
    const auto function = call.field("function");
    const auto method = function.field("attribute").text();
    if (function.is("identifier") && file_.is_of_python(function)) return of_python(at, call);
    if (const auto known = file_.callee(call)) {
      const auto parameter = file_.parameter_for(known, call, argument);
      if (parameter.empty()) give_up();
      const bool is_followed = std::ranges::any_of(containers_, [&](const variable& one) {
        return one.kind == variable_kind::local && one.scope == known && one.name == parameter;
      });
      if (!parameter.empty() && !is_followed)
        given_.push_back({{variable_kind::local, known, parameter}, {}});
      return std::nullopt;
    }
    if (is_known(method, known::adds_one) || is_known(method, known::adds_many))
      return take(function.field("object"));
    auto first = function;
    while (first.is("attribute")) first = first.field("object");
    const auto package = file_.package_of(first.text());
    if (package == "torch") {
      if ((function.is("identifier") ? function.text() : method) == "save") return std::nullopt;
      auto beside = arguments_of(call);
      std::erase(beside, argument);
      if (at.is_any({"list", "tuple"})) {  // torch.cat([anchor, made])
        for (const auto& one : at.children()) beside.push_back(one);
      }
      meets(call, std::move(beside));
      return call;
    }
    if (reads_by_library(file_, function)) {
      // A method of a tensor; a function of another library takes what is on the host.
      const bool is_method = function.is("attribute") && !file_.is_library(first.text());
      if (is_method) meets(call, {first});
      return is_method ? std::optional(call) : std::nullopt;
    }
    // An object that is called, as a model or a loss is; what a method keeps or needs is not known.
    const bool is_object = function.is("identifier") || file_.is_self(function.field("object"));
    if (is_object && package.empty() && is_made_by_call(function)) {
      meets(call, {function});
      return call;
    }
    auto beside = arguments_of(call);
    std::erase(beside, argument);
    meets(call, std::move(beside));
    give_up();
    return std::nullopt;
  }

  // What gets the elements of zip(a, b): (a, b) of `for i, (a, b) in enumerate(zip(…))`, too.
  [[nodiscard]] node target_of(const node& call, const node& loop) const {
    if (loop) return loop.field("left");
    const auto outer = call.parent().parent();
    const auto around = outer.parent();
    const bool is_counted = outer.is("call") && outer.field("function").text() == "enumerate" &&
                            around.is_any({"for_statement", "for_in_clause"}) &&
                            around.field("right") == outer;
    return is_counted ? unwrapped(around.field("left").child(1)) : node();
  }

  [[nodiscard]] std::optional<node> of_python(const node& at, const node& call) {
    const auto name = call.field("function").text();
    const auto loop = call.parent();
    const bool is_loop =
        loop.is_any({"for_statement", "for_in_clause"}) && loop.field("right") == call;
    if (name == "zip" || name == "enumerate") {
      const auto target = target_of(call, is_loop ? loop : node());
      const auto targets = target.children();
      const auto given = arguments_of(call);
      const auto which = std::ranges::find(given, at) - given.begin() + (name == "zip" ? 0 : 1);
      if (which < std::ssize(targets)) return take(targets[static_cast<std::size_t>(which)]);
      if (name == "enumerate" && is_loop) return call;
      give_up();
      return std::nullopt;
    }
    if (is_one_of(name, passes_through)) return call;
    if (!is_known(name, known::reads_argument) && name != "len") give_up();
    if (name == "map" || name == "filter") give_up();
    return std::nullopt;
  }

  [[nodiscard]] std::optional<node> returned(const node& statement) {
    const auto function = file_.function_of(statement);
    const auto calls = function ? file_.calls_of(function) : std::vector<node>();
    if (calls.empty()) give_up();
    for (const auto& call : calls) climb(call);
    return std::nullopt;
  }

  // Names that get it.
  std::optional<node> take(const node& target) {
    const auto pattern = target.is("subscript") ? target.field("value") : target;
    auto all = targets_of(pattern);
    if (all.empty() && pattern.is_any({"identifier", "attribute"})) all.push_back(pattern);
    if (all.empty()) give_up();
    for (const auto& one : all) {
      if (one.is("identifier")) {
        const std::string name(one.text());
        const auto owner = file_.owner_of(one, name);
        given_.push_back(
            {{owner ? variable_kind::local : variable_kind::global, owner, name}, one});
      } else if (one.is("attribute")) {
        given_.push_back(
            {{variable_kind::attribute, {}, std::string(one.field("attribute").text())}, {}});
      } else {
        give_up();
      }
    }
    return std::nullopt;
  }

  struct giving_to {
    variable to;
    node target;  // where; nothing: a parameter, or an attribute that has it for good
  };

  void follow(const giving_to one) {
    if (given_.size() > most_names) return give_up();
    const auto by = one.target ? given_by(one.target) : node();
    const auto from =
        by.is_any({"assignment", "for_statement"}) ? std::optional(giving_of(by)) : std::nullopt;
    std::vector<giving> others;
    for (const auto& use : file_.named(one.to.name)) {
      const auto again = given_by(use);
      if (from && again && again != by && again.is_any({"assignment", "for_statement"}))
        others.push_back(giving_of(again));
    }
    for (const auto& use : file_.named(one.to.name)) {
      if (!means(file_, use, one.to) ||
          (given_by(use) && !given_by(use).is("augmented_assignment")))
        continue;
      const auto asks = use.parent().is("attribute") && use.parent().field("attribute") == use;
      if (asks || (from && !reaches(*from, others, use))) continue;
      ours_.insert(use.id());
      climb(use);
    }
  }

  // Whether the name may have it there: nothing gives it another value on the way.
  [[nodiscard]] static bool reaches(const giving& from, const std::vector<giving>& others,
                                    const node& use) {
    const bool has_another = std::ranges::any_of(others, [&](const giving& one) {
      return one.is_before(use) && (one.begin > from.begin || use.begin() < from.begin);
    });
    if (has_another) return false;
    if (use.begin() >= from.begin) return true;
    const auto loops = loops_around(from.by);
    return std::ranges::any_of(loops, [&](const node& loop) { return use.is_in(loop); });
  }

  void meets(const node& where, std::vector<node> beside) {
    std::erase_if(beside, [&](const node& one) { return is_plain(one, 0); });
    if (!beside.empty()) beside_.emplace_back(where.line(), std::move(beside));
  }

  // A number, a word, a type: nothing that is on a device.
  [[nodiscard]] bool is_plain(node what, unsigned depth) const {
    constexpr unsigned deepest = 8;
    if (depth > deepest) return false;
    what = unwrapped(what);
    if (what.is("keyword_argument")) return is_plain(what.field("value"), depth + 1);
    if (what.is_any({"integer", "float", "string", "true", "false", "none", "ellipsis", "slice"}))
      return true;
    if (what.is_any(
            {"unary_operator", "binary_operator", "tuple", "list", "comparison_operator"})) {
      const auto parts = what.children();
      return std::ranges::all_of(parts, [&](const node& one) { return is_plain(one, depth + 1); });
    }
    if (what.is("subscript")) {  // x.shape[0]
      return what.field("value").field("attribute").text() == "shape" ||
             is_plain(what.field("value"), depth + 1);
    }
    if (what.is("attribute")) {
      return is_one_of(what.field("attribute").text(), ends_there) ||
             file_.package_of(what.field("object").text()) == "torch";
    }
    if (what.is("call")) {
      const auto function = what.field("function");
      if (function.is("attribute")) {
        const auto name = function.field("attribute").text();
        return is_one_of(name, ends_there) && name != "cuda" && name != "cpu";
      }
      constexpr std::array<std::string_view, 5> numbers = {"len", "int", "float", "range", "round"};
      return is_one_of(function.text(), numbers) && file_.is_of_python(function);
    }
    return what.is("identifier") && is_number(what, depth);
  }

  // A name that is given numbers alone.
  [[nodiscard]] bool is_number(const node& name, unsigned depth) const {
    const auto owner = file_.owner_of(name, name.text());
    bool is_given = false;
    for (const auto& one : file_.named(name.text())) {
      if (!one.is("identifier") || file_.owner_of(one, name.text()) != owner) continue;
      const auto by = given_by(one);
      if (!by) continue;
      is_given = true;
      const auto value = by.field("right");
      if (by.is("assignment") && by.field("left") == one && is_plain(value, depth + 1)) continue;
      if (by.is("augmented_assignment")) continue;
      const bool is_loop = by.is_any({"for_statement", "for_in_clause"});
      const auto function = value.field("function").text();
      const bool first = by.field("left") == one || by.field("left").child(0) == one;
      if (!is_loop || !first ||
          !(function == "range" || (function == "enumerate" && by.field("left") != one)))
        return false;
    }
    return is_given;
  }

  // Whether somebody made what is called: head = Head(), self.head = nn.Linear(…).
  [[nodiscard]] bool is_made_by_call(const node& function) const {
    const auto name =
        function.is("attribute") ? function.field("attribute").text() : function.text();
    return std::ranges::any_of(file_.named(name), [&](const node& one) {
      const auto by = given_by(one);
      return by.is("assignment") && by.field("right").is("call");
    });
  }

  // Whether all of an expression is made of what is followed, and of numbers.
  [[nodiscard]] bool is_ours(const node& what) const {
    bool has_ours = false;
    for (const auto& one : what.all()) {
      if (!one.is("identifier") || one.parent().field("attribute") == one) continue;
      if (ours_.contains(one.id()) || is_container(one)) {
        has_ours = true;
      } else if (!is_plain(one, 0) && file_.package_of(one.text()) != "torch" &&
                 !file_.is_of_python(one)) {
        return false;
      }
    }
    return has_ours;
  }

  [[nodiscard]] bool is_container(const node& name) const {
    return std::ranges::any_of(containers_,
                               [&](const variable& one) { return means(file_, name, one); });
  }

  static constexpr std::size_t most_names = 60;
  const source_file& file_;
  std::vector<variable> containers_;
  std::vector<giving_to> given_;
  std::vector<std::pair<std::uint32_t, std::vector<node>>> beside_;  // by line
  std::set<std::uint32_t> seen_;
  std::set<std::uint32_t> ours_;
  std::set<std::uint32_t> products_;  // their other sides
  bool is_read_ = false;
  bool is_lost_ = false;
};

}  // namespace

readings readings_of(const source_file& file, const node& list) {
  return follower(file).of(list);
}

readings readings_of(const source_file& file, const use_list& uses) {
  return follower(file).of(uses);
}

}  // namespace memtrace::program
