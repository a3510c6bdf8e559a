// SPDX-License-Identifier: Apache-2.0
//
// R8: a loop collects results, it has ended, and what comes after it reads all of them.
//
//   for ids in loader:
//       scores.append(model(ids))
//   ranked = torch.cat(scores).sort()
//
// That a loop ends bounds nothing in a program that trains, or in one that serves as long as requests
// come. It is asked for where the run has trained nothing and has ended well; and the text has to show
// that the loop ends by itself, and that what comes after it runs.
#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/judge/program/later_uses.h"
#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

constexpr unsigned most_depth = 8;

// What may be asked of a container without a look at its elements.
constexpr std::array<std::string_view, 8> asks_nothing = {"print", "type",       "id",   "len",
                                                          "bool",  "isinstance", "repr", "str"};
// Functions of Python's that go through what they are given, one by one.
constexpr std::array<std::string_view, 5> goes_through = {"enumerate", "zip", "reversed", "sorted",
                                                          "list"};

template <std::size_t N>
[[nodiscard]] bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Names that end a program from anywhere.
[[nodiscard]] std::vector<node> exits_of(const source_file& file) {
  std::vector<node> found;
  for (const std::string_view word : {"exit", "_exit", "quit", "abort", "SystemExit"}) {
    const auto& all = file.named(word);
    found.insert(found.end(), all.begin(), all.end());
  }
  return found;
}

// globals()["items"], sys.modules[__name__].items
[[nodiscard]] bool may_be_read_unseen(const source_file& file) {
  const auto& all = file.named("modules");
  return reads_by_word(file) || std::ranges::any_of(all, [](const node& one) {
           return one.is("attribute") && one.field("object").text() == "sys";
         });
}

[[nodiscard]] bool is_in_try(const node& what) {
  const auto statement = around(what, {"try_statement", "function_definition"});
  return statement.is("try_statement");
}

// What runs when a place does: the place, the call of its function, the call of that one's, …; the loop that
// is furthest out of these.
class ways_in {
 public:
  ways_in(const case_at_hand& in, const node& place) : in_(in) {
    for (auto at = place;;) {
      for (const auto& loop : loops_around(at)) {
        loop_ = loop;
        level_ = levels_.size();
      }
      is_caught_ = is_caught_ || is_in_try(at);
      levels_.push_back(at);
      const auto function = in.file.function_of(at);
      is_whole_ = !function || is_owner(function);
      const auto call = is_whole_ ? node() : only_call_of(function);
      if (!call || levels_.size() == most_depth) break;
      at = call;
    }
    // Who calls the function that has the variable comes after its loop, too.
    while (levels_.size() < most_depth) {
      const auto call = only_call_of(in.file.function_of(levels_.back()));
      if (!call) break;
      is_caught_ = is_caught_ || is_in_try(call);
      levels_.push_back(call);
    }
  }

  [[nodiscard]] const node& loop() const { return loop_; }

  // Nobody else can have what is put in, and no error or exit leads out of the loop but its end.
  [[nodiscard]] bool ends_by_itself() const {
    if (!is_whole_ || is_caught_ || !loop_.is("for_statement")) return false;
    if (loop_.text().starts_with("async") || goes_on_for_ever(loop_.field("right"))) return false;
    const auto parts = loop_.all();
    const bool leaves = std::ranges::any_of(parts, [&](const node& part) {
      return part.is_any({"return_statement", "raise_statement"}) &&
             in_.file.function_of(part) == in_.file.function_of(loop_);
    });
    return !leaves && std::ranges::all_of(exits_of(in_.file), [&](const node& one) {
      const auto call = around(one, {"call", "block"});
      const bool leads_here =
          call.is("call") && std::ranges::any_of(levels_, [&](const node& level) {
            return level.is_in(call);
          });  // sys.exit(main())
      return leads_here || is_after(one);
    });
  }

  // Whether something runs once the loop has ended, and at no other time.
  [[nodiscard]] bool is_after(const node& what, unsigned depth = 0) const {
    if (depth == most_depth) return false;
    const auto function = in_.file.function_of(what);
    for (auto i = level_; i < levels_.size(); ++i) {
      if (in_.file.function_of(levels_[i]) == function) return what.begin() >= end_of(i);
    }
    const auto calls = function ? all_calls_of(in_.file, function) : std::nullopt;
    return calls &&
           std::ranges::all_of(*calls, [&](const node& call) { return is_after(call, depth + 1); });
  }

  // Of what is after it: whether it runs whatever a condition says.
  [[nodiscard]] bool runs_after(const node& what, unsigned depth = 0) const {
    if (depth == most_depth) return false;
    const auto function = in_.file.function_of(what);
    for (auto i = level_; i < levels_.size(); ++i) {
      if (in_.file.function_of(levels_[i]) == function) return !is_conditional(what, levels_[i]);
    }
    const auto calls = all_calls_of(in_.file, function);
    return !is_conditional(what, {}) && calls && std::ranges::any_of(*calls, [&](const node& call) {
      return runs_after(call, depth + 1);
    });
  }

 private:
  [[nodiscard]] std::uint32_t end_of(std::size_t level) const {
    return (level == level_ ? loop_ : levels_[level]).end();
  }
  [[nodiscard]] bool is_owner(const node& function) const {
    const auto& who = in_.uses.names.front();
    return who.kind == variable_kind::local && who.scope == function;
  }
  [[nodiscard]] node only_call_of(const node& function) const {
    const auto calls = function ? all_calls_of(in_.file, function) : std::nullopt;
    return calls && calls->size() == 1 ? calls->front() : node();
  }

  // Conditions that do not stand around what leads to the loop, too.
  [[nodiscard]] static bool is_conditional(const node& what, const node& beside) {
    for (auto at = what.parent(); at; at = at.parent()) {
      if (at.is("function_definition")) return false;
      if (beside && beside.is_in(at)) return false;
      if (at.is_any({"if_statement", "while_statement", "match_statement", "except_clause",
                     "conditional_expression", "boolean_operator", "assert_statement", "lambda"}))
        return true;
    }
    return false;
  }

  // itertools.count(), iter(queue.get, None), a generator of the file with a loop that has no end.
  [[nodiscard]] bool goes_on_for_ever(const node& what) const {
    const auto parts = what.all();
    return std::ranges::any_of(parts, [&](const node& call) {
      if (!call.is("call")) return false;
      const auto function = call.field("function");
      const auto name =
          function.is("attribute") ? function.field("attribute").text() : function.text();
      if (name == "count" || name == "cycle" || name == "repeat") return true;
      if (name == "iter" && arguments_of(call).size() == 2) return true;
      const auto known = in_.file.callee(call);
      const auto body = known ? known.all() : std::vector<node>();
      return std::ranges::any_of(body, [](const node& one) { return one.is("while_statement"); });
    });
  }

  const case_at_hand& in_;
  std::vector<node> levels_;
  std::size_t level_ = 0;  // that the loop is in
  node loop_;
  bool is_whole_ = false;   // it leads to who has the variable, or to the module
  bool is_caught_ = false;  // an error there is
};

[[nodiscard]] bool uses_its_elements(const node& loop) {
  const auto targets = loop.field("left").all();
  const auto body = loop.field("body").all();
  return std::ranges::any_of(body, [&](const node& one) {
    return one.is("identifier") && std::ranges::any_of(targets, [&](const node& target) {
             return target.is("identifier") && target.text() == one.text();
           });
  });
}

// What a reading goes through: the container, its values(), enumerate(…) of it.
[[nodiscard]] bool reads_all(const source_file& file, const node& container) {
  auto at = container;
  for (unsigned depth = 0; depth < most_depth; ++depth) {
    const auto up = at.parent();
    if (up.is("for_statement")) return up.field("right") == at && uses_its_elements(up);
    if (up.is("for_in_clause")) return up.field("right") == at;
    if (up.is("attribute")) {
      const auto name = up.field("attribute").text();
      const auto call = up.parent();
      if (!(name == "values" || name == "items") || call.field("function") != up) return false;
      at = call;
      continue;
    }
    if (!up.is("argument_list")) return false;
    const auto call = up.parent();
    const auto function = call.field("function");
    const bool is_plain_name = function.is("identifier") && file.is_of_python(function);
    if (is_plain_name && is_one_of(function.text(), asks_nothing)) return false;
    if (!is_plain_name || !is_one_of(function.text(), goes_through))
      return is_plain_name || reads_by_library(file, function);  // sum(…), torch.cat(…)
    at = call;
  }
  return false;
}

}  // namespace

std::optional<bound> by_end_of_loop(const case_at_hand& in, const use& grows) {
  const auto& asked = in.asked;
  if (!asked.is_over || asked.by_graph || asked.container.empty()) return std::nullopt;
  if (in.uses.names.front().kind == variable_kind::attribute || may_be_read_unseen(in.file))
    return std::nullopt;
  const ways_in ways(in, grows.at);
  if (!ways.ends_by_itself()) return std::nullopt;
  const auto target = grows.at.field(grows.at.is("call") ? "function" : "left");
  // scores = torch.cat(scores): what comes after that reads another one.
  node replaced;
  for (const auto& one : in.uses.all) {
    const bool is_next = one.kind == use_kind::assign && ways.is_after(one.at) &&
                         (!replaced || one.at.begin() < replaced.begin());
    if (is_next) replaced = one.at;
  }
  const auto is_it = [&](const node& what) {
    return !replaced || (what.end() <= replaced.end() &&
                         in.file.function_of(what) == in.file.function_of(replaced));
  };
  bool is_read = false;
  for (const auto& one : in.uses.all) {
    const auto what = one.what ? one.what : one.at;
    const bool puts =
        one.kind == use_kind::grow || one.kind == use_kind::put || one.kind == use_kind::measure;
    if (one.kind == use_kind::escape) return std::nullopt;
    if (puts || what.is_in(target)) continue;
    if (one.kind == use_kind::assign && !one.at.is_in(ways.loop())) continue;
    // The loop reads it, asks whether something is in it, or takes something out.
    if (!ways.is_after(what)) return std::nullopt;
    is_read = is_read || (one.kind == use_kind::read && is_it(what) && reads_all(in.file, what) &&
                          ways.runs_after(what));
  }
  if (!is_read) return std::nullopt;
  const auto how = readings_of(in.file, in.uses).how;
  if (how != read_how::alone && how != read_how::with_others) return std::nullopt;
  auto found = case_at_hand::shown(bound_kind::loop, ways.loop().field("right"), 0);
  found.value = asked.length;
  return found;
}

}  // namespace memtrace::program
