// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program still holds at the peak though nothing uses it any more: results of the
// model that autograd does not need, through the backward pass; results, losses and batches of one
// turn of the loop while the next one runs.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analyzer/judge/advice/last_uses.h"
#include "analyzer/judge/advice/passes.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

constexpr std::uint64_t least_bytes = 1u << 20;
constexpr std::size_t most_lines = 4;

enum class del_before : std::uint8_t { loop, backward, next_turn };

class uses {
 public:
  explicit uses(const blocks::evidence& of)
      : of_(of), passes_(passes_of(of)), turns_(turns_of_loops(of)) {}

  // From which event on nothing uses it, as far as passes and loops tell. Past the last event: not
  // known.
  [[nodiscard]] std::uint64_t end_of_use(block_number block) const {
    if (!can_be_late(block)) return end_event(of_);
    const auto end =
        passes_.of_block[block] == activity::training ? end_in_training(block) : turns_[block].over;
    // A block that lives on and on is collected: nobody forgot it.
    const auto death = death_event(of_, block);
    const bool is_replaced = death < turns_[block].next_over || death == end_event(of_);
    return is_replaced ? end : end_event(of_);
  }

  // From which event on the turn that it was made for is over, at or after the end of its use.
  [[nodiscard]] std::uint64_t end_of_turn(block_number block) const {
    const auto end = end_of_use(block);
    if (passes_.of_block[block] != activity::training || end == end_event(of_)) return end;
    const auto* const pass = used_by(block);
    const auto over = turns_[block].over == end_event(of_) ? 0 : turns_[block].over;
    return std::max({end, pass == nullptr ? 0 : pass->end, over});
  }

  // What a person has to write `del` before, where nothing uses it at an event any more.
  [[nodiscard]] del_before where(block_number block, std::uint64_t event) const {
    const auto& training = passes_.training;
    // It is there through several passes: no turn of the loop made it.
    const bool is_made_once = training.size() > 1 &&
                              birth_event(of_, block) < training.front().forward &&
                              death_event(of_, block) > training[1].backward;
    if (is_made_once) return del_before::loop;
    const auto* const pass = used_by(block);
    const bool in_backward =
        passes_.of_block[block] == activity::training && pass != nullptr && event < pass->end;
    return in_backward ? del_before::backward : del_before::next_turn;
  }

 private:
  [[nodiscard]] bool can_be_late(block_number block) const {
    const auto& facts = of_.blocks[block];
    if (facts.recomputed || facts.born_in == phase::backward || facts.born_in == phase::optimizer) {
      return false;
    }
    // A graph that no backward pass uses is not to be deleted, but not to be made.
    if (facts.kept_by_autograd && passes_.without_backward.contains(facts.call)) return false;
    if (facts.kept_by_autograd &&
        passes_.born_after_unused_graphs.contains(block_from(of_, death_event(of_, block)))) {
      return false;
    }
    switch (facts.what) {
      case category::activations:
      case category::outputs:
      case category::inputs:
      case category::temporaries:
      case category::collected:
      case category::other:
        return passes_.of_block[block] != activity::neither;
      default:
        return false;
    }
  }

  // The pass of training that uses it: its own, or of what the program makes before a forward pass
  // that one. Null: none follows.
  [[nodiscard]] const training_pass* used_by(block_number block) const {
    const auto birth = birth_event(of_, block);
    const auto own = passes_.at(birth);
    if (own && birth < passes_.training[*own].end) return &passes_.training[*own];
    const auto next = own ? *own + 1 : 0;
    return next < passes_.training.size() ? &passes_.training[next] : nullptr;
  }

  [[nodiscard]] std::uint64_t end_in_training(block_number block) const {
    const auto* const pass = used_by(block);
    if (pass == nullptr) return end_event(of_);
    return of_.blocks[block].kept_by_autograd ? pass->end : pass->backward;
  }

  const blocks::evidence& of_;
  run_passes passes_;
  std::vector<loop_turns> turns_;
};

struct late_line {
  std::uint64_t bytes = 0;  // at the peak; of a line that is not late there: of its largest block
  std::uint64_t most = 0;   // of one block
  trace::stack_id stack;    // of it
  del_before where = del_before::next_turn;
};

struct found_late {
  std::vector<std::pair<std::string, late_line>> lines;  // most bytes first
  std::uint64_t bytes = 0;
};

[[nodiscard]] found_late find(const blocks::evidence& of, const uses& used) {
  found_late found;
  if (of.now.allocated.request >= of.log.events.size()) return found;
  const auto peak = of.log.events[of.now.allocated.request];
  std::map<std::string, late_line> lines;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    if (used.end_of_use(block) > peak) continue;
    const auto stack = of.blocks[block].stack;
    const auto line = line_of(of, stack);
    if (line.empty() || is_loaded(of, stack)) continue;
    auto& late = lines[line];
    const auto bytes = bytes_of(of, block);
    late.bytes += bytes;
    found.bytes += bytes;
    if (bytes <= late.most) continue;
    late.most = bytes;
    late.stack = stack;
    late.where = used.where(block, peak);
  }
  found.lines.assign(lines.begin(), lines.end());
  std::stable_sort(found.lines.begin(), found.lines.end(), [](const auto& left, const auto& right) {
    return left.second.bytes > right.second.bytes;
  });
  return found;
}

// And what other lines make in a turn that outlives it: not late at the peak, but where the cache
// has no place for the next turn's while it is there.
[[nodiscard]] found_late with_all_of_a_turn(const blocks::evidence& of, const uses& used,
                                            found_late found) {
  std::map<trace::stack_id, std::uint64_t> largest;  // block that a stack made
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto bytes = bytes_of(of, block);
    if (bytes < least_bytes) continue;
    const auto end = used.end_of_turn(block);
    const bool outlives_its_turn =
        end < death_event(of, block) && used.where(block, end) == del_before::next_turn;
    if (!outlives_its_turn) continue;
    auto& most = largest[of.blocks[block].stack];
    most = std::max(most, bytes);
  }
  std::map<std::string, late_line> beside;
  for (const auto& [stack, bytes] : largest) {
    const auto line = line_of(of, stack);
    if (line.empty() || is_loaded(of, stack)) continue;
    auto& late = beside[line];
    if (bytes > late.bytes) late = {bytes, bytes, stack, del_before::next_turn};
  }
  for (const auto& [line, late] : found.lines) beside.erase(line);
  found.lines.insert(found.lines.end(), beside.begin(), beside.end());
  return found;
}

// As what_to_write() says it: what these lines made, and when.
void free_after_use(const blocks::evidence& of, const found_late& found, request_edits& edits) {
  const uses used(of);
  std::map<std::string, del_before> told;
  for (const auto& [line, late] : found.lines) {
    if (late.bytes >= least_bytes) told.emplace(line, late.where);
  }
  std::map<trace::stack_id, std::map<std::string, del_before>::const_iterator> by_stack;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (bytes_of(of, block) < least_bytes) continue;
    const auto stack = of.blocks[block].stack;
    const auto known = by_stack.find(stack);
    const auto line = known != by_stack.end()
                          ? known->second
                          : by_stack.emplace(stack, told.find(line_of(of, stack))).first->second;
    if (line == told.end()) continue;
    const auto end =
        line->second == del_before::backward ? used.end_of_use(block) : used.end_of_turn(block);
    if (end < death_event(of, block)) edits.free_at(block, end);
  }
}

[[nodiscard]] std::string list_of(const found_late& found, del_before where) {
  std::string words;
  std::size_t listed = 0;
  for (const auto& [line, late] : found.lines) {
    if (late.where != where || late.bytes < least_bytes) continue;
    if (listed == most_lines) break;
    ++listed;
    words += fmt::format("{}{} ({})", words.empty() ? "" : ", ", line, bytes_in_words(late.bytes));
  }
  return words;
}

[[nodiscard]] std::string what_to_write(const found_late& found) {
  const auto in_loop = list_of(found, del_before::loop);
  const auto in_backward = list_of(found, del_before::backward);
  const auto in_next_turn = list_of(found, del_before::next_turn);
  std::string words;
  if (!in_loop.empty())
    words = fmt::format("before the loop begins del what these lines made: {}", in_loop);
  if (!in_backward.empty()) {
    words += fmt::format("{}before backward() del all but the loss of what these lines made: {}",
                         words.empty() ? "" : "; ", in_backward);
  }
  if (!in_next_turn.empty()) {
    words += fmt::format(
        "{}at the end of each turn of the loop del what these lines made (or make the turn a "
        "function, whose local variables go with it): {}",
        words.empty() ? "" : "; ", in_next_turn);
  }
  return words;
}

// Both say what is late at the peak; they differ in the lines to write it for.
[[nodiscard]] proposal freeing(const blocks::evidence& of, const found_late& found) {
  proposal made;
  made.id = "free_earlier";
  made.group = free_earlier_group;
  made.how = proof::replayed;
  made.title = "Results are held at the peak though nothing uses them any more";
  made.change = what_to_write(found);
  made.evidence = fmt::format("{} are alive at the peak after the last pass that uses them",
                              bytes_in_words(found.bytes));
  made.about = {found.bytes, "are not used again"};
  made.free = true;
  made.cost = "none known";
  made.not_when =
      "the program reads them afterwards (accuracy, logging, a state that is carried over): "
      "compute that first, or keep a detached copy of what is read";
  made.device = of.log.device;
  made.stack = found.lines.front().second.stack;
  made.rewrite = [&of, found](allocator::request_log& log) {
    request_edits edits;
    free_after_use(of, found, edits);
    edits.apply(log);
  };
  return made;
}

}  // namespace

proposals free_earlier(const blocks::evidence& of) {
  const uses used(of);
  const auto found = find(of, used);
  if (found.bytes < least_bytes) return {};
  const auto more = with_all_of_a_turn(of, used, found);
  proposals all = {freeing(of, found)};
  if (more.lines.size() > found.lines.size()) all.push_back(freeing(of, more));
  return all;
}

}  // namespace memtrace::advice
