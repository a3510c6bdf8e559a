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

// Of a class of the file whose objects say themselves what comes next, and not that nothing does.
[[nodiscard]] bool may_have_no_end(const node& definition) {
  const auto parts = definition.field("body").all();
  const auto has = [&](std::string_view method) {
    return std::ranges::any_of(parts, [&](const node& one) {
      return one.is("function_definition") && one.field("name").text() == method;
    });
  };
  if (has("__getitem__") && !has("__len__")) return true;
  return std::ranges::any_of(parts, [](const node& one) {
    if (!one.is("function_definition")) return false;
    const auto name = one.field("name").text();
    const auto body = one.all();
    const bool loops =
        std::ranges::any_of(body, [](const node& part) { return part.is("while_statement"); });
    return (name == "__iter__" && loops) ||
           (name == "__next__" && one.text().find("StopIteration") == std::string_view::npos);
  });
}

// for x in todo: todo.append(…)
[[nodiscard]] bool grows_what_it_reads(const node& loop) {
  const auto right = loop.field("right");
  const auto parts = loop.field("body").all();
  return std::ranges::any_of(parts, [&](const node& call) {
    const auto function = call.field("function");
    const auto method = function.field("attribute").text();
    const bool adds = is_known(method, known::adds_one) || is_known(method, known::adds_many);
    return call.is("call") && adds && function.field("object").text() == right.text();
  });
}

// sys.stdin, itertools.count(), iter(queue.get, None), a generator of the file with a loop that has no end;
// or a variable that is given such a value.
[[nodiscard]] bool goes_on_for_ever(const source_file& file, const node& what, unsigned depth = 0) {
  if (depth == most_depth) return true;
  const auto parts = what.all();
  return std::ranges::any_of(parts, [&](const node& one) {
    if (one.is("identifier")) {
      const auto& all = file.named(one.text());
      return std::ranges::any_of(all, [&](const node& other) {
        const auto given = other.parent();
        const bool is_value = given.is("assignment") && given.field("left") == other;
        return is_value && !one.is_in(given) &&
               goes_on_for_ever(file, given.field("right"), depth + 1);
      });
    }
    if (one.is("attribute") && one.field("attribute").text() == "stdin") return true;
    if (!one.is("call")) return false;
    const auto function = one.field("function");
    const auto name =
        function.is("attribute") ? function.field("attribute").text() : function.text();
    if (name == "count" || name == "cycle" || name == "repeat") return true;
    if (name == "iter" && arguments_of(one).size() == 2) return true;
    if (std::ranges::any_of(file.classes(name), may_have_no_end)) return true;
    const auto known = file.callee(one);
    const auto body = known ? known.all() : std::vector<node>();
    return std::ranges::any_of(body, [](const node& part) { return part.is("while_statement"); });
  });
}

// A break leads out of this loop when something else says so: a clock, an event. `if i == most: break`
// counts its turns.
[[nodiscard]] bool is_stopped(const source_file& file, const node& loop) {
  const auto parts = loop.field("body").all();
  return std::ranges::any_of(parts, [&](const node& one) {
    const bool leaves =
        one.is("break_statement") && around(one, {"for_statement", "while_statement"}) == loop;
    if (!leaves) return false;
    const auto asks = around(one, {"if_statement", "elif_clause", "for_statement"});
    const auto condition = asks.field("condition");
    if (!condition.is("comparison_operator")) return true;
    return std::ranges::any_of(condition.all(), [&](const node& call) {
      const auto function = call.field("function");
      return call.is("call") && !(function.text() == "len" && file.is_of_python(function));
    });
  });
}

[[nodiscard]] bool may_be_caught(const source_file& file, const node& what) {
  const auto statement = around(what, {"try_statement", "function_definition"});
  return statement.is("try_statement") || is_caught(file, statement_of(what));
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
      is_caught_ = is_caught_ || may_be_caught(in.file, at);
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
      is_caught_ = is_caught_ || may_be_caught(in.file, call);
      levels_.push_back(call);
    }
  }

  [[nodiscard]] const node& loop() const { return loop_; }

  // Nobody else can have what is put in, and no error or exit leads out of the loop but its end.
  [[nodiscard]] bool ends_by_itself() const {
    if (!is_whole_ || is_caught_ || !loop_.is("for_statement") || !were_running()) return false;
    if (loop_.text().starts_with("async") || is_stopped(in_.file, loop_) ||
        grows_what_it_reads(loop_))
      return false;
    if (goes_on_for_ever(in_.file, loop_.field("right")) || is_given_no_end()) return false;
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
  // An argument of the calls that lead to the loop may be what it goes through.
  [[nodiscard]] bool is_given_no_end() const {
    return std::any_of(levels_.begin() + static_cast<std::ptrdiff_t>(level_) + 1, levels_.end(),
                       [&](const node& call) {
                         const auto given = arguments_of(call);
                         return std::ranges::any_of(given, [&](const node& one) {
                           return goes_on_for_ever(in_.file, one);
                         });
                       });
  }

  // What it got was made in this loop, and in no call of it by a file that is not seen.
  [[nodiscard]] bool were_running() const {
    const auto& lines = in_.asked.running;
    const auto ran = [&](const node& what) {
      return std::ranges::any_of(lines, [&](std::uint32_t line) {
        return what.line() <= line && line <= what.last_line();
      });
    };
    if (lines.empty()) return true;
    return ran(loop_) && std::all_of(levels_.begin() + static_cast<std::ptrdiff_t>(level_) + 1,
                                     levels_.end(), ran);
  }
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
  if (may_be_read_unseen(in.file)) return std::nullopt;
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

std::optional<bound> end_of_comprehension(const source_file& file, std::uint32_t line,
                                          std::uint64_t length) {
  file.parsed().allow(most_looks);
  try {
    std::vector<node> all;
    for (const auto& one : file.root().all()) {
      const bool has_line = one.line() <= line && line <= one.last_line();
      if (has_line && one.is_any({"list_comprehension", "dictionary_comprehension"}))
        all.push_back(one);
    }
    const auto exits = exits_of(file);
    const bool may_leave = std::ranges::any_of(
        exits, [&](const node& one) { return static_cast<bool>(file.function_of(one)); });
    if (all.size() != 1 || may_leave || may_be_caught(file, all.front())) return std::nullopt;
    node loop;
    for (const auto& part : all.front().children()) {
      if (!part.is("for_in_clause")) continue;
      const auto from = part.field("right");
      if (loop || part.text().starts_with("async") || goes_on_for_ever(file, from))
        return std::nullopt;
      loop = from;
    }
    if (!loop) return std::nullopt;
    return case_at_hand::shown(bound_kind::loop, loop, static_cast<std::int64_t>(length));
  } catch (const too_many_looks&) {
    return std::nullopt;
  }
}

bool makes_container(const source_file& file, std::uint32_t line) {
  constexpr std::array<std::string_view, 6> makes = {"list", "tuple",  "set",
                                                     "dict", "sorted", "deque"};
  file.parsed().allow(most_looks);
  try {
    const auto all = file.root().all();
    return std::ranges::any_of(all, [&](const node& one) {
      const bool has_line = one.line() <= line && line <= one.last_line();
      return has_line && one.is("call") && is_one_of(one.field("function").text(), makes);
    });
  } catch (const too_many_looks&) {
    return true;
  }
}

}  // namespace memtrace::program
