// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/later_uses.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace memtrace::program {

namespace {

// What gives names a value: an assignment, or a loop that goes on to its next element.
struct giving {
  node by;
  node block;  // in which the names have that value, from `begin` on
  std::uint32_t begin = 0;

  [[nodiscard]] bool is_before(const node& what) const {
    return what.is_in(block) && what.begin() >= begin;
  }
};

[[nodiscard]] giving giving_of(const node& by) {
  if (by.is("for_statement")) {
    const auto body = by.field("body");
    return {by, body, body.begin()};
  }
  const auto statement = statement_of(by);
  auto block = statement.parent();
  // What follows a `with` has run all of it.
  while (block.parent().is("with_statement")) block = block.parent().parent();
  return {by, block, statement.end()};
}

// What a tensor has that is no view of it: numbers, a copy on the host, gradients, and results that
// PyTorch always puts into new memory. Any other attribute or method may give the same memory.
constexpr std::string_view no_views[] = {
    "item",   "tolist", "cpu",    "backward",    "shape",  "size", "dim",     "numel", "dtype",
    "device", "mean",   "sum",    "prod",        "std",    "var",  "norm",    "max",   "min",
    "amax",   "amin",   "argmax", "argmin",      "topk",   "sort", "argsort", "eq",    "ne",
    "gt",     "ge",     "lt",     "le",          "all",    "any",  "abs",     "exp",   "log",
    "sqrt",   "pow",    "square", "sigmoid",     "tanh",   "relu", "softmax", "clone", "matmul",
    "mm",     "bmm",    "add",    "log_softmax", "gather", "sub",  "mul",     "div"};

// Functions of Python's that give nothing of their argument.
constexpr std::string_view counts[] = {"len", "int", "float", "str", "bool", "isinstance", "print"};

class reader {
 public:
  reader(const source_file& file, free_from when) : file_(file), when_(when) {}

  [[nodiscard]] name_holders at(std::uint32_t line) {
    const auto given = givings_at(line);
    if (given.empty())
      return {begins_in_loop(line) ? last_read::not_known : last_read::not_there, {}, 0};
    function_ = file_.function_of(given.front().by);
    const auto loops = loops_of(given.front());
    if (loops.empty()) return {last_read::not_there, {}, 0};
    loop_ = loops.front();
    if (when_ == free_from::backward && !find_backward(given.back()))
      return {last_read::not_there, {}, 0};
    for (const auto& one : given) {
      if (!add_targets(one.by)) return {};
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (is_read_later(names_[i])) return {};
    }
    return {last_read::before, names_, backward_ ? backward_.line() : 0};
  }

 private:
  // Assignments of a line, and a loop whose first line it is.
  [[nodiscard]] std::vector<giving> givings_at(std::uint32_t line) const {
    std::vector<giving> found;
    for (const auto& one : file_.root().all()) {
      if (one.line() > line || one.last_line() < line) continue;
      const bool is_head = one.is("for_statement") && line < one.field("body").line();
      if (one.is_any({"assignment", "augmented_assignment"}) || is_head)
        found.push_back(giving_of(one));
    }
    return found;
  }

  // Whether a statement of this line is in a loop.
  [[nodiscard]] bool begins_in_loop(std::uint32_t line) const {
    const auto all = file_.root().all();
    return std::ranges::any_of(all, [&](const node& one) {
      return one.line() == line && one.parent().is("block") && !loops_around(one).empty();
    });
  }

  [[nodiscard]] static std::vector<node> loops_of(const giving& one) {
    auto loops = loops_around(one.by);
    if (one.by.is("for_statement")) loops.insert(loops.begin(), one.by);
    return loops;
  }

  [[nodiscard]] bool find_backward(const giving& last) {
    for (const auto& one : file_.named("backward")) {
      const auto call = one.parent();
      const bool is_next = one.is("attribute") && call.field("function") == one &&
                           call.is_in(loop_) && call.begin() >= last.begin &&
                           file_.function_of(call) == function_;
      if (is_next && backward_) return false;  // one of two, as conditions say
      if (is_next) backward_ = call;
    }
    return static_cast<bool>(backward_);
  }

  // False: one of them is no variable of the function's, which others may read.
  [[nodiscard]] bool add_targets(const node& by) {
    if (by.is("augmented_assignment")) return false;
    const auto targets = targets_of(by.field("left"));
    if (targets.empty() || !always_runs(giving_of(by))) return false;
    for (const auto& target : targets) {
      if (!target.is("identifier") || file_.owner_of(target, target.text()) != function_)
        return false;
      if (std::ranges::find(names_, target.text()) == names_.end())
        names_.emplace_back(target.text());
    }
    return true;
  }

  // Whether the names have it by the place where they are to be deleted, whatever conditions hold.
  [[nodiscard]] bool always_runs(const giving& one) const {
    return backward_ ? one.is_before(backward_)
                     : one.by == loop_ || one.block == loop_.field("body");
  }

  [[nodiscard]] bool is_read_later(std::string name) {
    const auto uses = file_.named(name);
    std::vector<giving> given;
    for (const auto& use : uses) {
      if (const auto by = given_by(use); by && by.is_in(loop_)) given.push_back(giving_of(by));
    }
    return std::ranges::any_of(uses, [&](const node& use) {
      if (!use.is("identifier") || file_.owner_of(use, name) != function_) return false;
      const auto by = given_by(use);
      if (by && !by.is("augmented_assignment")) return false;
      if (use.parent().is("delete_statement")) return false;
      return is_needed(use, given) || goes_elsewhere(use);
    });
  }

  // Whether it may read what an earlier turn gave the name, or what the backward pass has passed.
  [[nodiscard]] bool is_needed(const node& use, const std::vector<giving>& given) const {
    if (file_.function_of(use) != function_) return true;
    if (!use.is_in(loop_)) {
      const auto around = loops_around(loop_);  // which come round to what stands before it
      return use.begin() >= loop_.end() ||
             std::ranges::any_of(around, [&](const node& outer) { return use.is_in(outer); });
    }
    const bool is_past = backward_ && use.begin() >= backward_.begin();
    return std::ranges::none_of(given, [&](const giving& one) {
      return one.is_before(use) && (!is_past || one.begin >= backward_.end());
    });
  }

  // Where the same memory gets another holder. Variables of the function are held to the same.
  [[nodiscard]] bool goes_elsewhere(node at) {
    bool is_in_container = false;
    for (auto up = at.parent(); up; at = up, up = up.parent()) {
      if (up.is("attribute")) {
        if (std::ranges::find(no_views, up.field("attribute").text()) != std::end(no_views))
          return false;
      } else if (up.is("subscript")) {
        if (up.field("value") != at) return false;
      } else if (up.is("argument_list")) {
        const auto function = up.parent().field("function");
        const bool is_counted = std::ranges::find(counts, function.text()) != std::end(counts) &&
                                file_.is_of_python(function);
        if (is_counted) return false;
        if (is_kept_by(up.parent(), at)) return true;
      } else if (up.is_any({"tuple", "list", "dictionary", "pair", "set", "expression_list",
                            "list_comprehension", "set_comprehension", "dictionary_comprehension",
                            "generator_expression"})) {
        is_in_container = true;
      } else if (up.is_any({"call", "keyword_argument", "parenthesized_expression", "await",
                            "conditional_expression", "boolean_operator"})) {
        continue;
      } else if (up.is("assignment")) {
        return up.field("right") == at && !is_number(up) && !add_targets(up);
      } else if (up.is("for_statement")) {
        return !add_targets(up);
      } else {
        return up.is_any({"return_statement", "yield", "augmented_assignment", "lambda",
                          "named_expression", "for_in_clause"}) ||
               (is_in_container && !up.is("expression_statement"));
      }
    }
    return true;
  }

  // Whether a function may keep an argument: one whose result nobody asks for is there for what it
  // does with it. A function of the file is asked itself.
  [[nodiscard]] bool is_kept_by(const node& call, const node& argument) const {
    if (call.parent().is("expression_statement")) return true;
    const auto function = file_.callee(call);
    if (!function) return false;
    const auto name = file_.parameter_for(function, call, argument);
    const auto uses = file_.named(name);
    return name.empty() || std::ranges::any_of(uses, [&](const node& use) {
             if (!use.is("identifier") || file_.owner_of(use, name) != function) return false;
             const auto by = around(use, {"assignment", "augmented_assignment", "named_expression",
                                          "expression_statement", "yield", "lambda"});
             return file_.function_of(use) != function || by.is_in(function.field("body"));
           });
  }

  // Names that have one element: a loss, or what .item() is asked for.
  [[nodiscard]] bool is_number(const node& assignment) const {
    const auto name = assignment.field("left");
    const auto& uses = file_.named(name.text());
    return name.is("identifier") && std::ranges::any_of(uses, [&](const node& use) {
             if (file_.owner_of(use, name.text()) != function_) return false;
             if (backward_ && use.is_in(backward_)) return true;
             const auto asked = use.parent().is("attribute") ? use.parent() : node();
             return asked && asked.field("object") == use &&
                    asked.field("attribute").text() == "item" && asked.parent().is("call");
           });
  }

  const source_file& file_;
  free_from when_;
  node function_;
  node loop_;
  node backward_;
  std::vector<std::string> names_;
};

// What backward() is called on after a loop, and what its turns have given it.
class loss_of_turns {
 public:
  explicit loss_of_turns(const source_file& file) : file_(file) {}

  [[nodiscard]] bool is_sum(std::uint32_t line) {
    if (!find(line)) return false;
    const auto given = arguments_of(backward_);
    const auto loss = given.empty() ? backward_.field("function").field("object") : given.front();
    return is_sum_of(loss, 0) && !is_given_what_was_made(line);
  }

 private:
  // The innermost loop around a line after which backward() is called, in the same function.
  [[nodiscard]] bool find(std::uint32_t line) {
    for (const auto& loop : file_.root().all()) {
      const bool has_line = loop.is_any({"for_statement", "while_statement"}) &&
                            loop.field("body").line() <= line && line <= loop.last_line();
      if (!has_line) continue;
      node first;
      for (const auto& one : file_.named("backward")) {
        const auto call = one.parent();
        if (!one.is("attribute") || call.field("function") != one) continue;
        if (call.is_in(loop)) first = {};
        if (call.is_in(loop)) break;
        const bool follows =
            call.begin() >= loop.end() && file_.function_of(call) == file_.function_of(loop);
        if (follows && (!first || call.begin() < first.begin())) first = call;
      }
      if (!first) continue;
      loop_ = loop;
      backward_ = first;
    }
    return static_cast<bool>(backward_);
  }

  [[nodiscard]] bool is_of_torch(const node& function, std::string_view name) const {
    if (function.is("identifier"))
      return function.text() == name && file_.package_of(name) == "torch";
    return function.field("attribute").text() == name &&
           file_.package_of(function.field("object").text()) == "torch";
  }

  [[nodiscard]] bool is_factor(const node& what) const {
    const auto function = what.field("function");
    return what.is_any({"integer", "float"}) ||
           (what.is("call") && function.text() == "len" && file_.is_of_python(function)) ||
           (what.is("identifier") && !is_given_here(what));
  }

  [[nodiscard]] bool is_given_here(const node& name) const {
    const auto& all = file_.named(name.text());
    return std::ranges::any_of(all, [&](const node& one) {
      return given_by(one) && file_.function_of(one) == file_.function_of(loop_);
    });
  }

  // A sum, or a mean, of one value of each turn; times what is none of them.
  [[nodiscard]] bool is_sum_of(node what, unsigned depth) {
    constexpr unsigned most_names = 8;
    what = unwrapped(what);
    if (depth > most_names) return false;
    if (what.is("identifier")) return is_gathered(what, depth);
    if (what.is("binary_operator")) {
      const auto how = what.field("operator").text();
      return (how == "/" || how == "*") && is_factor(what.field("right")) &&
             is_sum_of(what.field("left"), depth + 1);
    }
    if (!what.is("call")) return false;
    const auto function = what.field("function");
    const auto given = arguments_of(what);
    if (given.empty()) {
      const auto method = function.field("attribute").text();
      return (method == "sum" || method == "mean") && is_stack(function.field("object"));
    }
    if (function.text() == "sum" && file_.is_of_python(function)) return is_list(given.front());
    if (is_of_torch(function, "sum") || is_of_torch(function, "mean"))
      return is_stack(given.front());
    // torch.amp's scaler gives a multiple.
    return function.field("attribute").text() == "scale" && is_sum_of(given.front(), depth + 1);
  }

  [[nodiscard]] bool is_stack(const node& what) {
    return what.is("call") && is_of_torch(what.field("function"), "stack") &&
           is_list(what.field("arguments").child(0));
  }

  // losses.append(loss) in the loop.
  [[nodiscard]] bool is_list(const node& what) {
    if (!what.is("identifier")) return false;
    sum_ = std::string(what.text());
    const auto& all = file_.named(what.text());
    return std::ranges::any_of(all, [&](const node& one) {
      const auto method = one.parent();
      return one.is_in(loop_) && method.is("attribute") &&
             method.field("attribute").text() == "append" && method.parent().is("call");
    });
  }

  // total = total + loss, or total += loss, in the loop; or what follows it makes of that.
  [[nodiscard]] bool is_gathered(const node& name, unsigned depth) {
    bool grows = false;
    node after;
    const auto& all = file_.named(name.text());
    for (const auto& one : all) {
      const auto by = given_by(one);
      if (!by || file_.function_of(by) != file_.function_of(loop_)) continue;
      const auto value = by.field("right");
      if (by.is_in(loop_)) {
        const bool adds = by.is("augmented_assignment") ? by.field("operator").text() == "+="
                                                        : is_added_to(name, value);
        if (!adds) return false;
        grows = true;
      } else if (by.begin() >= loop_.end() && by.end() <= backward_.begin()) {
        after = by;
      }
    }
    if (grows) {
      sum_ = std::string(name.text());
      return !after || is_scaled(name, after);
    }
    return after.is("assignment") && is_sum_of(after.field("right"), depth + 1);
  }

  [[nodiscard]] static bool is_added_to(const node& name, const node& value) {
    if (!value.is("binary_operator") || value.field("operator").text() != "+") return false;
    return value.field("left").text() == name.text() || value.field("right").text() == name.text();
  }

  // total = total / 4, total /= 4
  [[nodiscard]] bool is_scaled(const node& name, const node& by) const {
    const auto sign = by.field("operator").text();
    if (by.is("augmented_assignment"))
      return (sign == "/=" || sign == "*=") && is_factor(by.field("right"));
    const auto value = unwrapped(by.field("right"));
    const auto how = value.field("operator").text();
    return value.is("binary_operator") && (how == "/" || how == "*") &&
           value.field("left").text() == name.text() && is_factor(value.field("right"));
  }

  // hidden = net(x, hidden): the graph of a turn goes on with that of the one before.
  [[nodiscard]] bool is_given_what_was_made(std::uint32_t line) const {
    std::set<std::string_view> made;
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (const auto& one : loop_.all()) {
        if (!one.is_any({"assignment", "augmented_assignment"})) continue;
        for (const auto& target : targets_of(one.field("left"))) {
          const auto name =
              target.is("attribute") ? target.field("attribute").text() : target.text();
          if (name == sum_ || made.contains(name)) continue;
          if (!is_carried(target, name) && !reads_any(one.field("right"), made)) continue;
          is_new = made.insert(name).second || is_new;
        }
      }
    }
    const auto all = loop_.all();
    return std::ranges::any_of(all, [&](const node& one) {
      const bool is_there = one.line() <= line && line <= one.last_line() && one.is("call");
      return is_there && reads_any(one.field("arguments"), made);
    });
  }

  // A turn may read what an earlier one has given it.
  [[nodiscard]] bool is_carried(const node& target, std::string_view name) const {
    const auto& all = file_.named(name);
    return std::ranges::any_of(all, [&](const node& use) {
      if (!use.is_in(loop_) || use.flat_text() != target.flat_text()) return false;
      const auto by = given_by(use);
      if (by && !by.is("augmented_assignment")) return false;
      return std::ranges::none_of(all, [&](const node& other) {
        const auto gives = given_by(other);
        return gives && gives.is_in(loop_) && giving_of(gives).is_before(use);
      });
    });
  }

  [[nodiscard]] static bool reads_any(const node& what, const std::set<std::string_view>& names) {
    const auto all = what.all();
    return std::ranges::any_of(
        all, [&](const node& one) { return one.is("identifier") && names.contains(one.text()); });
  }

  const source_file& file_;
  node loop_;
  node backward_;
  std::string sum_;  // what gathers the losses
};

}  // namespace

name_holders holders_at(const source_file& file, std::uint32_t line, free_from when) {
  return reader(file, when).at(line);
}

bool has_modules_that_keep(const source_file& file) {
  if (!file.named("register_forward_hook").empty()) return true;
  if (!file.named("register_forward_pre_hook").empty()) return true;
  const auto keeps = [](const node& one) {
    if (one.is("assignment")) {
      const auto targets = targets_of(one.field("left"));
      return std::ranges::any_of(targets, [](const node& target) {
        return target.is_any({"attribute", "subscript"});
      });
    }
    const auto call = one.is("expression_statement") ? one.child(0) : node();
    return call.is("call") && call.field("function").is("attribute") &&
           count_of_arguments(call) != 0;
  };
  return std::ranges::any_of(file.functions("forward"), [&](const node& function) {
    const auto all = function.field("body").all();
    return std::ranges::any_of(all, keeps);
  });
}

bool reads_gradients(const source_file& file) {
  const auto is_none = [](const node& one) { return one.is("none"); };
  return std::ranges::any_of(file.named("grad"), [&](const node& one) {
    if (!one.is("attribute")) return false;
    const auto around = one.parent();
    if (around.is("call")) return !(around.field("function") == one);
    if (around.is("assignment")) return !is_none(around.field("right"));
    if (around.is("comparison_operator")) {
      return !std::ranges::any_of(around.children(), is_none);
    }
    auto last = around;
    if (last.field("attribute").text() == "data") last = last.parent();
    return last.field("attribute").text() != "zero_";
  });
}

bool is_backward_of_sum(const source_file& file, std::uint32_t line) {
  return loss_of_turns(file).is_sum(line);
}

}  // namespace memtrace::program
