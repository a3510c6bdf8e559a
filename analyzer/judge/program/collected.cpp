// SPDX-License-Identifier: Apache-2.0
//
// R8: a loop collects results, it has ended, and what comes after it reads them.
//
//   for ids in loader:
//       scores.append(model(ids))
//   ranked = torch.cat(scores).sort()
//
// That a loop ends bounds nothing in a program that trains: it is asked for where the run has trained
// nothing, and has ended well, so that what comes after the loop has run.
#include <algorithm>

#include "analyzer/judge/program/rules.h"

namespace memtrace::program {

namespace {

constexpr unsigned most_depth = 8;

// What runs when a place does: the place, the call of its function, the call of that one's, …; the loop that
// is furthest out of these.
class ways_in {
 public:
  ways_in(const case_at_hand& in, const node& place) : in_(in) {
    auto at = place;
    for (unsigned depth = 0; depth < most_depth; ++depth) {
      for (const auto& loop : loops_around(at)) {
        loop_ = loop;
        level_ = levels_.size();
      }
      levels_.push_back(at);
      const auto function = in.file.function_of(at);
      if (!function || at_owner(function)) break;
      const auto calls = all_calls_of(in.file, function);
      if (!calls || calls->size() != 1) break;
      at = calls->front();
    }
    // Who calls the function that has the variable comes after its loop, too.
    while (levels_.size() < most_depth) {
      const auto function = in.file.function_of(levels_.back());
      const auto calls = function ? all_calls_of(in.file, function) : std::nullopt;
      if (!calls || calls->size() != 1) break;
      levels_.push_back(calls->front());
    }
  }

  [[nodiscard]] const node& loop() const { return loop_; }

  // Whether something runs once the loop has ended, and at no other time.
  [[nodiscard]] bool is_after(const node& what, unsigned depth = 0) const {
    if (depth == most_depth) return false;
    const auto function = in_.file.function_of(what);
    for (auto i = level_; i < levels_.size(); ++i) {
      if (in_.file.function_of(levels_[i]) != function) continue;
      return what.begin() >= (i == level_ ? loop_ : levels_[i]).end();
    }
    const auto calls = function ? all_calls_of(in_.file, function) : std::nullopt;
    return calls &&
           std::ranges::all_of(*calls, [&](const node& call) { return is_after(call, depth + 1); });
  }

 private:
  [[nodiscard]] bool at_owner(const node& function) const {
    const auto& who = in_.uses.names.front();
    return who.kind == variable_kind::local && who.scope == function;
  }

  const case_at_hand& in_;
  std::vector<node> levels_;
  std::size_t level_ = 0;  // that the loop is in
  node loop_;
};

}  // namespace

std::optional<bound> by_end_of_loop(const case_at_hand& in, const use& grows) {
  const auto& asked = in.asked;
  if (!asked.is_over || asked.by_graph || asked.container.empty()) return std::nullopt;
  if (in.uses.names.front().kind == variable_kind::attribute) return std::nullopt;
  const ways_in ways(in, grows.at);
  if (!ways.loop().is("for_statement")) return std::nullopt;
  bool is_read = false;
  for (const auto& one : in.uses.all) {
    if (one.kind == use_kind::escape) return std::nullopt;
    if (one.kind != use_kind::read) continue;
    const bool adds = one.at == grows.at || grows.at.is_in(one.at) || one.at.is_in(grows.at);
    if (!adds && !ways.is_after(one.what ? one.what : one.at)) return std::nullopt;
    is_read = is_read || !adds;
  }
  const auto how = is_read ? readings_of(in.file, in.uses).how : read_how::never;
  if (how != read_how::alone && how != read_how::with_others) return std::nullopt;
  auto found = case_at_hand::shown(bound_kind::loop, ways.loop().field("right"), 0);
  found.value = asked.length;
  return found;
}

}  // namespace memtrace::program
