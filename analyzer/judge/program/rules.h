// SPDX-License-Identifier: Apache-2.0
//
// The rules by which prove.h decides: each answers for one place that makes the container longer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/program/prove.h"
#include "analyzer/judge/program/uses.h"
#include "analyzer/judge/program/values.h"

namespace memtrace::program {

// What holds where a statement runs, as the conditions around it and before it say:
//
//   if full: return          not full
//   if len(items) < 40:      len(items) < 40
//       items.append(x)  ◄── both hold here

// left `sign` right holds; or, with an empty sign, `left` is true or not.
struct fact {
  node left;
  std::string_view sign;  // < <= > >= == !=, is, is not, in, not in
  node right;
  bool holds = true;  // of an empty sign
  node condition;     // the whole condition that says it
  // Where it stands in a function that the condition asks, as in `if self.is_full()`: the calls that
  // lead there, the outermost first.
  std::vector<node> calls = {};
};

// What follows from a condition that is true, or false.
[[nodiscard]] std::vector<fact> facts_of(const node& condition, bool is_true);

// What holds where `what` runs, within its function.
[[nodiscard]] std::vector<fact> facts_at(const node& what);

// Whether it runs whenever its statement does: not in a lambda, nor on one side of `and`.
[[nodiscard]] bool runs_with_statement(const node& what);
// Whether a statement may leave the block that it is in: a loop within it keeps its own breaks.
[[nodiscard]] bool may_leave(const node& statement);
// Whether an error that a statement raises is caught around it, within its function: what follows in
// the block is passed over then, and the program goes on.
[[nodiscard]] bool is_caught(const source_file& file, const node& statement);
// Whether a call of a function runs what is written there, at once: no decorator stands in between, no
// other file's function takes its place, and it is no generator.
[[nodiscard]] bool runs_as_written(const source_file& file, const node& function);
// All calls of a function; none: somebody may call it who is not seen, or nobody does.
[[nodiscard]] std::optional<std::vector<node>> all_calls_of(const source_file& file,
                                                            const node& function);

// An object as a function names it: `self.items` in put. An empty path: it cannot be told which.
struct place {
  node function;  // nothing: the module
  std::string path;
  std::uint32_t begin = 0;  // from here on the function has meant this object by it

  [[nodiscard]] explicit operator bool() const { return !path.empty(); }
};

// What the rules look at.
struct case_at_hand {
  const source_file& file;
  const values& value;
  const use_list& uses;
  const question& asked;

  // The container in an expression that is the variable's length: len(items), items.shape[0],
  // len(self) of a class whose __len__ returns that, self.size() of a method that does; nothing: it is
  // no length.
  [[nodiscard]] place measured(const node& what, unsigned depth = 0) const;
  [[nodiscard]] bool is_length(const node& what) const { return static_cast<bool>(measured(what)); }

  [[nodiscard]] place place_of(const node& what) const;
  // Of an object that a function names: how the one that calls it does.
  [[nodiscard]] place at_call(const place& inside, const node& call) const;
  // Whether two places mean the same object, not only the same attribute of two.
  [[nodiscard]] bool is_same(const place& one, const place& other) const;

  // The facts of a condition, or at a place, with those of functions of the file that are asked.
  [[nodiscard]] std::vector<fact> opened(const std::vector<fact>& facts) const;
  // The most elements that a fact leaves it; none: it says nothing of its length, or no value is
  // known.
  [[nodiscard]] std::optional<std::int64_t> most_by(const fact& one, const place& of) const;
  [[nodiscard]] std::optional<std::int64_t> most_by(const std::vector<fact>& facts,
                                                    const place& of) const;
  // Whether a condition asks for its length, whatever follows.
  [[nodiscard]] bool asks_for_length(const node& condition) const;
  // Whether something else than this makes it longer, too.
  [[nodiscard]] bool has_more_growth(const use& than) const;
  // The bound that a node says, of so many elements.
  [[nodiscard]] static bound shown(bound_kind kind, const node& by, std::int64_t value);

 private:
  [[nodiscard]] bool add_path(const node& what, place& to, unsigned depth) const;
  [[nodiscard]] place of_object(const place& inside, const node& object, const node& where) const;
  [[nodiscard]] bool keeps_meaning(const place& one, const place& other) const;
  using places = std::map<std::uint32_t, std::set<std::string>>;  // by function
  [[nodiscard]] places seen_by_callers(const place& from) const;
};

// Whether a function may be run by calls that do not name it: forward, __call__, __getitem__.
[[nodiscard]] bool runs_unnamed(const node& function);

// R2: a condition around it lets it run only while the container is shorter than a limit.
[[nodiscard]] std::optional<bound> by_guard(const case_at_hand& in, const use& grows);
// R3: wherever it runs, something takes out again what is above a limit.
[[nodiscard]] std::optional<bound> by_trim(const case_at_hand& in, const use& grows);
// R3, R6: after a known number of rounds the container is left with nothing.
[[nodiscard]] std::optional<bound> by_emptying(const case_at_hand& in, const use& grows);
// Whether a place that empties it would have done so by now, and has not.
[[nodiscard]] bool emptying_is_past(const case_at_hand& in, const use& grows, const node& empties);
// R4: a tensor that is joined to itself is cut to a limit.
[[nodiscard]] std::optional<bound> by_slice(const case_at_hand& in, const use& assigns);
// R5: what is put in has one of so many keys.
[[nodiscard]] std::optional<bound> by_keys(const case_at_hand& in, const use& grows);
// Whether its keys are new each time: the number of a step, a name that nobody else has, or a tensor.
[[nodiscard]] bool has_new_keys(const case_at_hand& in, const use& grows);
// R7: what is put in is taken out of something that nothing is put into.
[[nodiscard]] bool runs_out(const case_at_hand& in, const use& grows);
// R8: a loop collects it, has ended, and what comes after the loop reads all of it.
[[nodiscard]] std::optional<bound> by_end_of_loop(const case_at_hand& in, const use& grows);

// Whether a tensor may get longer along this axis: no other one is named where it is joined.
[[nodiscard]] bool may_be_joined_axis(const case_at_hand& in, const node& axis);

// The call of code that is not in the file by which a tensor's new value is made of what it was;
// none: it is made by PyTorch's functions alone, as torch.cat, or by functions of the file.
[[nodiscard]] node made_by_others(const case_at_hand& in, const use& assigns);
// Whether a tensor's new value is made of what it was, or of other things alone.
// Neither, where that is not known.
[[nodiscard]] bool is_reallocated(const case_at_hand& in, const use& assigns);
[[nodiscard]] bool is_made_of_itself(const case_at_hand& in, const use& assigns);
// Whether a container's new value may have more elements than it had: items + [x], merged(items, x).
[[nodiscard]] bool makes_longer(const case_at_hand& in, const use& assigns);

}  // namespace memtrace::program
