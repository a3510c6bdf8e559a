// SPDX-License-Identifier: Apache-2.0
//
// Results of an evaluation that pile up on the GPU until it is over: moved to the host, or reduced,
// call by call.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/base/text/parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/program/readings.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

constexpr std::size_t fewest_results = 4;

using line_set = std::set<trace::stack_id>;

// What has a cure of its own, as a limit for a cache, or a limit already: the program reads it where it is.
[[nodiscard]] line_set cured_or_bounded(const blocks::evidence& of) {
  line_set found;
  for (const auto& one : of.findings.verdicts) {
    for (const auto& who : one.suspects) {
      const bool is_bounded =
          who.fills && who.fills->bound && who.fills->bound->kind != program::bound_kind::loop;
      if (is_bounded || (who.fix && !who.fix->moves_to_host)) found.insert(who.stack);
    }
  }
  return found;
}

// What the program makes for a call that comes in the same turn is given to it, however long it stays.
class inputs_of_calls {
 public:
  explicit inputs_of_calls(const blocks::evidence& of) : of_(of) {
    std::uint32_t last = 0;
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      const auto call = of.blocks[block].call;
      if (call > last) begins_.push_back(birth_event(of, block));
      last = std::max(last, call);
    }
  }

  [[nodiscard]] bool has(block_number block, std::uint64_t turn_over) const {
    if (of_.blocks[block].call != 0) return false;
    const auto next = std::ranges::lower_bound(begins_, birth_event(of_, block));
    return next != begins_.end() && *next < turn_over;
  }

 private:
  const blocks::evidence& of_;
  std::vector<std::uint64_t> begins_;  // ascending
};

// A window gives back one result as it takes the next: it does not pile up, and the program reads it
// where it is. By line.
class windows {
 public:
  explicit windows(const blocks::evidence& of) : of_(of) {}

  // In the order of their births.
  void add(block_number block) {
    lives_[of_.blocks[block].stack].push_back({birth_event(of_, block), death_event(of_, block)});
  }
  void settle() {
    for (const auto& [line, lives] : lives_) {
      if (is_window(lives)) found_.insert(line);
    }
  }
  [[nodiscard]] bool has(trace::stack_id line) const { return found_.contains(line); }

 private:
  using life = std::pair<std::uint64_t, std::uint64_t>;  // events of birth and of death

  // Most that went, went while as many stayed over the next birth.
  [[nodiscard]] static bool is_window(const std::vector<life>& lives) {
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ends;
    std::size_t went = 0;
    std::size_t left = 0;
    for (const auto& [birth, death] : lives) {
      std::size_t now = 0;
      for (; !ends.empty() && ends.top() < birth; ends.pop()) ++now;
      went += now;
      if (now <= ends.size()) left += now;
      ends.push(death);
    }
    return left * 2 > went;
  }

  const blocks::evidence& of_;
  std::map<trace::stack_id, std::vector<life>> lives_;
  line_set found_;
};

struct collected {
  std::vector<std::pair<block_number, std::uint64_t>> results;  // and where their turn is over
  std::vector<block_number> joined;                             // all of them in one, at the end
  std::size_t at_once = 0;
  std::uint64_t highest = 0;  // bytes at once, with the joined ones
  trace::stack_id stack;      // of the largest
};

[[nodiscard]] bool can_be_result(const blocks::evidence& of, const blocks::run_passes& passes,
                                 const line_set& no_results, block_number block) {
  if (passes.of_block[block] != blocks::activity::evaluation) return false;
  const auto facts = of.blocks[block];
  // What a graph keeps goes with the graph, wherever its result is.
  const bool has_graph = facts.kept_by_autograd || passes.without_backward.contains(facts.call);
  if (facts.born_in == phase::setup || has_graph || no_results.contains(facts.stack)) return false;
  const auto what = facts.what;
  return what == category::outputs || what == category::collected || what == category::other ||
         what == category::activations || what == category::inputs;
}

[[nodiscard]] collected find(const blocks::evidence& of, const blocks::run_passes& passes) {
  auto turns = turns_of_loops(of);
  // Where all of a loop is one line, the lines around it turn later, and its calls tell its turns.
  const auto calls = turns_of_calls(of);
  for (block_number block = 0; block < turns.size(); ++block) {
    if (turns[block].next_over >= death_event(of, block)) turns[block] = calls[block];
  }
  auto no_results = cured_or_bounded(of);
  // Layers that are added while a model serves.
  for (const auto& facts : of.blocks) {
    if (facts.what == category::weights) no_results.insert(facts.stack);
  }
  collected found;
  std::uint64_t held = 0;
  using end = std::pair<std::uint64_t, std::uint64_t>;              // event and bytes
  std::priority_queue<end, std::vector<end>, std::greater<>> ends;  // of results, the next first
  std::uint64_t most = 0;
  const inputs_of_calls inputs(of);
  const auto is_result = [&](block_number block) {
    return can_be_result(of, passes, no_results, block) && !inputs.has(block, turns[block].over) &&
           turns[block].next_over < death_event(of, block) &&
           turns[block].over < turns[block].next_over;
  };
  const auto refused = fatal_refusal(of);
  windows of_lines(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (is_result(block)) of_lines.add(block);
  }
  of_lines.settle();
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto birth = birth_event(of, block);
    for (; !ends.empty() && ends.top().first <= birth; ends.pop()) held -= ends.top().second;
    if (passes.of_block[block] != blocks::activity::evaluation) continue;
    const auto bytes = bytes_of(of, block);
    const auto death = death_event(of, block);
    if (is_result(block) && !of_lines.has(of.blocks[block].stack)) {
      found.results.push_back({block, turns[block].over});
      ends.push({death, bytes});
      held += bytes;
      found.at_once = std::max(found.at_once, ends.size());
      found.highest = std::max(found.highest, held);
      if (bytes > most) found.stack = of.blocks[block].stack;
      most = std::max(most, bytes);
    } else if (of.blocks[block].call == 0 && ends.size() >= fewest_results && bytes >= held / 2) {
      found.joined.push_back(block);
      // The request that was refused was never there.
      if (block != refused) found.highest = std::max(found.highest, held + bytes);
    }
  }
  return found;
}

// What the program does with them once they are collected, as the innermost line tells that has made one.
[[nodiscard]] program::readings readings_of(const blocks::evidence& of, trace::stack_id stack) {
  for (const auto& frame : code::frames_of(of.names, stack)) {
    const auto text = frame.user ? code::source_of(of.names, frame.file) : std::nullopt;
    if (!text) continue;
    const program::source_file source{std::string(*text)};
    auto found = program::readings_of_line(source, frame.line);
    found.file = frame.file;
    if (found.how != program::read_how::not_known) return found;
  }
  return {};
}

// "; what n.py:33 main makes of them there, too", or nothing.
[[nodiscard]] std::string and_what_joins(const blocks::evidence& of, const collected& found) {
  const auto largest = std::ranges::max_element(
      found.joined, {}, [&](block_number block) { return bytes_of(of, block); });
  if (largest == found.joined.end()) return {};
  const auto line = line_of(of, of.blocks[*largest].stack);
  return line.empty() ? std::string()
                      : fmt::format("; and there, too, what {} makes of them", line);
}

}  // namespace

proposals evaluation_outputs(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (!passes.evaluates) return {};
  const auto found = find(of, passes);
  if (found.at_once < fewest_results) return {};
  const auto read = readings_of(of, found.stack);
  const bool moved_back = read.how == program::read_how::with_others;
  proposal made;
  made.id = "evaluation_outputs";
  made.title = passes.trains() ? "Results of evaluation pile up on the GPU"
                               : "Results of calls pile up on the GPU";
  made.change =
      owner_of_loop(of, passes) == loop_owner::transformers
          ? "eval_accumulation_steps=1, or preprocess_logits_for_metrics that reduces the logits"
          : fmt::format(
                "reduce the results call by call, or move each to the host (.cpu()) where "
                "{} makes it, before it is appended{}",
                line_that_calls_model(of, found.stack),
                moved_back
                    ? fmt::format("; what {}:{}{} with, move back there (.cuda())",
                                  text::file_name(read.file), read.line,
                                  read.has_more ? " and lines after it compute" : " computes")
                    : and_what_joins(of, found));
  made.evidence = fmt::format("{} results outlive two turns of the loop or more, up to {} at once",
                              found.results.size(), bytes_in_words(found.highest));
  made.about = {found.highest,
                passes.trains() ? "are results of evaluation" : "are results of calls"};
  made.source =
      moved_back
          ? "results given back where their turn is over; what joins them stays"
          : "results given back where their turn is over; what joins them is made on the host";
  made.cost = "a copy to the host for each call, and memory there";
  if (!moved_back) made.not_when = "the results are used on the GPU again";
  made.device = of.log.device;
  made.stack = found.stack;
  made.rewrite = [&of, moved_back](allocator::request_log& log) {
    const auto collected = find(of, passes_of(of));
    request_edits edits;
    for (const auto& [block, turn_over] : collected.results) edits.free_at(block, turn_over);
    for (const auto block : collected.joined) {
      if (!moved_back) edits.drop(block);
    }
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
