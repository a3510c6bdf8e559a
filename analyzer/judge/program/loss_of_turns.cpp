// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/judge/program/later_uses.h"

namespace memtrace::program {

namespace {

// What backward() is called on after a loop, or now and then in it, and what its turns have given it.
//
//   loss = loss + criterion(net(x), y)
//   if (i + 1) % 4 == 0:
//       loss.backward()
//       loss = 0
class loss_of_turns {
 public:
  explicit loss_of_turns(const source_file& file) : file_(file) {}

  [[nodiscard]] bool is_sum(std::uint32_t line) {
    if (!find(line)) return false;
    const auto given = arguments_of(backward_);
    const auto loss = given.empty() ? backward_.field("function").field("object") : given.front();
    return is_sum_of(loss, 0) && (!block_ || is_emptied()) && !is_given_what_was_made(line);
  }

 private:
  // The innermost loop around a line after which backward() is called, in the same function; or which calls it
  // in one place, in some of its turns.
  [[nodiscard]] bool find(std::uint32_t line) {
    for (const auto& loop : file_.root().all()) {
      const bool has_line = loop.is_any({"for_statement", "while_statement"}) &&
                            loop.field("body").line() <= line && line <= loop.last_line();
      if (!has_line) continue;
      node first;
      node block;
      for (const auto& one : file_.named("backward")) {
        const auto call = one.parent();
        if (!one.is("attribute") || call.field("function") != one) continue;
        if (call.is_in(loop)) {
          const bool is_only = !block;
          block = block_of_some_turns(call, loop);
          first = is_only && block ? call : node();
          if (!first) break;
          continue;
        }
        const bool follows = !block && call.begin() >= loop.end() &&
                             file_.function_of(call) == file_.function_of(loop);
        if (follows && (!first || call.begin() < first.begin())) first = call;
      }
      if (!first) continue;
      loop_ = loop;
      backward_ = first;
      block_ = block;
    }
    return static_cast<bool>(backward_);
  }

  // That of a condition in the loop's own body; nothing: it runs in each turn, or elsewhere.
  [[nodiscard]] static node block_of_some_turns(const node& call, const node& loop) {
    const auto block = statement_of(call).parent();
    const auto condition = block.parent();
    const bool is_it = condition.is("if_statement") && condition.field("consequence") == block &&
                       condition.parent() == loop.field("body");
    return is_it ? block : node();
  }

  // After backward() it begins anew: loss = 0.
  [[nodiscard]] bool begins_anew(const node& name, const node& by) const {
    return block_ && by.is_in(block_) && by.begin() >= backward_.end() && by.is("assignment") &&
           !reads_any(by.field("right"), {name.text()});
  }

  [[nodiscard]] bool is_emptied() const {
    const auto& all = file_.named(sum_);
    return std::ranges::any_of(all, [&](const node& one) {
      const auto by = given_by(one);
      const bool is_cleared = one.parent().field("attribute").text() == "clear" &&
                              one.is_in(block_) && one.begin() >= backward_.end();
      return is_cleared || (by && begins_anew(one, by));
    });
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
      if (begins_anew(name, by)) continue;
      if (by.is_in(loop_) && !(block_ && by.is_in(block_))) {
        const bool adds = by.is("augmented_assignment") ? by.field("operator").text() == "+="
                                                        : is_added_to(name, value);
        if (!adds) return false;
        grows = true;
      } else if (by.begin() >= (block_ ? block_.begin() : loop_.end()) &&
                 by.end() <= backward_.begin()) {
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
  node block_;       // of a condition in the loop, where backward() is called in some turns
  std::string sum_;  // what gathers the losses
};

}  // namespace

bool is_backward_of_sum(const source_file& file, std::uint32_t line) {
  return loss_of_turns(file).is_sum(line);
}

}  // namespace memtrace::program
