// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/later_uses.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace memtrace::program {

namespace {

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

// PyTorch's functions that put several tensors into new memory.
constexpr std::string_view joining[] = {"cat",    "concat", "concatenate", "stack",
                                        "hstack", "vstack", "dstack",      "column_stack"};

class reader {
 public:
  reader(const source_file& file, free_from when) : file_(file), when_(when) {}

  // Of a variable, where the function has come to this line.
  [[nodiscard]] name_holders at_stop(const node& function, const std::string& name,
                                     const stopped& at) {
    function_ = function;
    has_graph_ = at.has_graph;
    stop_ = running_at(at.line);
    if (!stop_ || may_go_elsewhere() || reads_by_word(file_)) return {};
    if (at.has_gone_on && is_given_after_stop(name)) return {};
    names_ = {name};
    for (std::size_t i = 0; i < names_.size(); ++i) {
      // A caller has what it has passed.
      const bool is_passed = function_ && source_file::has_parameter(function_, names_[i]);
      if (is_passed || is_read_later(names_[i])) return {};
    }
    return {last_read::before, names_, 0};
  }

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
  // An error that is caught, or kept back by something that `with` has entered, goes on behind it.
  [[nodiscard]] bool may_go_elsewhere() const {
    for (auto up = stop_.parent(); up && up != function_; up = up.parent()) {
      if (up.is("try_statement")) return true;
      if (!up.is("with_statement")) continue;
      const auto parts = up.child(0).all();
      const bool is_of_torch = std::ranges::any_of(parts, [&](const node& one) {
        return one.is("identifier") && file_.package_of(one.text()) == "torch";
      });
      if (!is_of_torch) return true;
    }
    return false;
  }

  // The statement of the function that a line is part of; nothing: one of several, or a head of one that
  // has a body.
  [[nodiscard]] node running_at(std::uint32_t line) const {
    std::vector<node> found;
    for (const auto& one : file_.root().all()) {
      const bool is_statement = one.parent().is_any({"block", "module"});
      if (!is_statement || one.line() > line || one.last_line() < line ||
          file_.function_of(one) != function_)
        continue;
      const auto parts = one.children();
      const bool is_in_body = std::ranges::any_of(parts, [&](const node& part) {
        const bool has_line = one.line() < line && part.line() <= line && line <= part.last_line();
        return has_line && (part.is("block") || part.kind().ends_with("_clause"));
      });
      if (!is_in_body) found.push_back(one);
    }
    if (found.size() != 1) return {};
    const auto parts = found.front().children();
    const bool has_body =
        std::ranges::any_of(parts, [](const node& one) { return one.is("block"); });
    return has_body ? node() : found.front();
  }

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
    if (targets.empty() || (!stop_ && !always_runs(giving_of(by)))) return false;
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
      const auto by = given_by(use);
      if (!by || by.is("augmented_assignment") || !(stop_ || by.is_in(loop_))) continue;
      // box.old = 1 and [old for old in all] give another one a value.
      const bool is_it = use.is("identifier") && by.is_any({"assignment", "for_statement"}) &&
                         file_.owner_of(use, name) == function_;
      if (is_it || !stop_) given.push_back(giving_of(by));
    }
    return std::ranges::any_of(uses, [&](const node& use) {
      // A default is read where its function is made, and kept by that.
      const bool is_default = use.parent().field("value") == use &&
                              use.parent().is_any({"default_parameter", "typed_default_parameter"});
      if (stop_ && is_default) return true;
      if (!use.is("identifier") || file_.owner_of(use, name) != function_) return false;
      const auto by = given_by(use);
      if (by && !by.is("augmented_assignment")) return false;
      const auto list = use.parent().is("expression_list") ? use.parent().parent() : use.parent();
      if (list.is("delete_statement")) return false;
      return is_needed(use, given) || goes_elsewhere(use);
    });
  }

  // Whether it may read what an earlier turn gave the name, or what the backward pass has passed.
  [[nodiscard]] bool is_needed(const node& use, const std::vector<giving>& given) const {
    if (file_.function_of(use) != function_) return true;
    if (stop_) return is_reached(use, given);
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

  [[nodiscard]] bool is_given_after_stop(const std::string& name) const {
    return std::ranges::any_of(file_.named(name), [&](const node& use) {
      const auto by = given_by(use);
      return by && file_.owner_of(use, name) == function_ && giving_of(by).begin >= stop_.end();
    });
  }

  // Whether the program may come from where it stands to a use before the name gets another value.
  [[nodiscard]] bool is_reached(const node& use, const std::vector<giving>& given) const {
    if (use.is_in(stop_)) return true;
    // What comes then comes after it.
    const bool is_given_now =
        std::ranges::any_of(given, [&](const giving& one) { return one.by.is_in(stop_); });
    if (is_given_now) return false;
    const bool follows = use.begin() >= stop_.end();
    const auto loops = loops_around(stop_);
    const bool comes_round =
        std::ranges::any_of(loops, [&](const node& loop) { return use.is_in(loop); });
    if (!follows && !comes_round) return false;
    return std::ranges::none_of(given, [&](const giving& one) {
      // What stands before both has given it before, and does so again in another turn alone.
      const bool is_between = follows ? one.begin >= stop_.end() : true;
      const bool in_turn = follows || std::ranges::any_of(loops, [&](const node& loop) {
                             return one.by.is_in(loop) && use.is_in(loop);
                           });
      return one.is_before(use) && is_between && in_turn;
    });
  }

  // Where the same memory gets another holder. Variables of the function are held to the same.
  [[nodiscard]] bool goes_elsewhere(node at) {
    if (stop_) return has_other_holder(at);
    bool is_in_container = false;
    for (auto up = at.parent(); up; at = up, up = up.parent()) {
      if (up.is("attribute")) {
        if (std::ranges::find(no_views, up.field("attribute").text()) != std::end(no_views))
          return false;
      } else if (up.is("subscript")) {
        if (up.field("value") != at) return false;
      } else if (up.is("argument_list")) {
        const auto function = up.parent().field("function");
        if (is_counted(function) || joins(function)) return false;
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

  // The same where a variable is asked about: what is computed from it may have a graph, which keeps what
  // it was computed from. Of what is not known here somebody has it.
  [[nodiscard]] bool has_other_holder(node at) {
    constexpr std::string_view ends[] = {"item", "tolist", "cpu",   "backward", "shape",  "size",
                                         "dim",  "numel",  "dtype", "device",   "argmax", "argmin"};
    for (auto up = at.parent(); up; at = up, up = up.parent()) {
      if (up.is("attribute")) {
        if (std::ranges::find(ends, up.field("attribute").text()) != std::end(ends)) return false;
      } else if (up.is("subscript")) {
        if (up.field("value") != at) return false;
      } else if (up.is("argument_list")) {
        const auto function = up.parent().field("function");
        if (is_counted(function) || (joins(function) && !has_graph_)) return false;
        if (is_kept_by(up.parent(), at)) return true;
      } else if (up.is("assignment")) {
        return up.field("right") == at && !add_targets(up);
      } else if (up.is("for_statement")) {
        return stop_.is_in(up) || !add_targets(up);  // the loop has it while it runs
      } else if (up.is_any({"comparison_operator", "expression_statement", "interpolation",
                            "if_statement", "while_statement", "elif_clause",
                            "assert_statement"})) {
        return false;
      } else if (!up.is_any({"call", "keyword_argument", "parenthesized_expression", "await",
                             "tuple", "list", "dictionary", "pair", "set", "expression_list",
                             "binary_operator", "unary_operator", "conditional_expression",
                             "boolean_operator"})) {
        return true;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_counted(const node& function) const {
    return std::ranges::find(counts, function.text()) != std::end(counts) &&
           file_.is_of_python(function);
  }

  // torch.cat(parts)
  [[nodiscard]] bool joins(const node& function) const {
    const bool is_name = function.is("identifier");
    const auto name = is_name ? function.text() : function.field("attribute").text();
    const auto of = is_name ? function.text() : function.field("object").text();
    return std::ranges::find(joining, name) != std::end(joining) && file_.package_of(of) == "torch";
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
  bool has_graph_ = false;
  node stop_;  // the statement at which the program stands; nothing: asked about a turn of a loop
  std::vector<std::string> names_;
};

}  // namespace

bool giving::is_before(const node& what) const {
  return what.is_in(block) && what.begin() >= begin;
}

giving giving_of(const node& by) {
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

name_holders holders_of(const source_file& file, const node& function, const std::string& name,
                        const stopped& at) {
  return reader(file, free_from::end_of_turn).at_stop(function, name, at);
}

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

bool reads_by_word(const source_file& file) {
  constexpr std::string_view words[] = {"globals", "locals", "vars", "eval", "exec"};
  return std::ranges::any_of(words, [&](std::string_view word) {
    const auto& all = file.named(word);
    return std::ranges::any_of(all, [](const node& one) { return one.is("identifier"); });
  });
}

bool reads_gradients(const source_file& file) {
  const auto is_none = [](const node& one) { return one.is("none"); };
  const bool by_hook = !file.named("register_hook").empty() ||
                       !file.named("register_post_accumulate_grad_hook").empty();
  if (by_hook || !file.quoted("grad").empty()) return true;
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

}  // namespace memtrace::program
