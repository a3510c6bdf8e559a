// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program still holds at the peak though nothing reads it any more: results of the
// model that autograd does not need, through the backward pass; results, losses and batches of one
// turn of the loop while the next one runs. The run tells what is late, the program's text that
// nobody reads it from there on.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/program/later_uses.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;
using program::free_from;

namespace {

constexpr std::uint64_t least_bytes = 1u << 20;
constexpr std::size_t most_told = 4;

// Who holds what a stack has made, from where on nobody reads it.
struct holder {
  std::string place;  // "train.py:12 main", where the names get it
  std::vector<std::string> names;
  std::uint32_t backward_line = 0;
};

// By what the run shows: whether blocks of a stack went when their names got the next ones.
class deaths_seen {
 public:
  deaths_seen(const blocks::evidence& of, const std::vector<blocks::loop_turns>& turns) {
    std::map<std::uint32_t, std::uint64_t> ends;  // by call, of its last block
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      const auto facts = of.blocks[block];
      if (facts.call != 0) ends[facts.call] = birth_event(of, block);
    }
    std::map<trace::stack_id, block_number> last;
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      const auto facts = of.blocks[block];
      const auto [before, is_first] = last.try_emplace(facts.stack, block);
      if (is_first) continue;
      const auto earlier = std::exchange(before->second, block);
      const auto death = death_event(of, earlier);
      if (death <= turns[earlier].over || death == end_event(of)) continue;
      // The call that makes the next one returns before a name gets it.
      const auto next = facts.call == 0 ? birth_event(of, block) : ends[facts.call];
      const bool is_by_name = death > next && death < turns[earlier].next_over;
      if (!is_by_name) otherwise_.insert(facts.stack);
    }
  }
  [[nodiscard]] bool is_refuted(trace::stack_id stack) const { return otherwise_.contains(stack); }

 private:
  std::set<trace::stack_id> otherwise_;
};

// Asks the program's text.
class holders {
 public:
  explicit holders(const blocks::evidence& of, const std::vector<blocks::loop_turns>& turns)
      : of_(of), deaths_(of, turns) {}

  // Null: somebody may read it, or it is not known who has it.
  [[nodiscard]] const holder* of(trace::stack_id stack, free_from when) {
    const auto [known, fresh] = found_.try_emplace({stack, when});
    if (fresh && stack && !deaths_.is_refuted(stack) && !are_kept())
      known->second = find(stack, when);
    return known->second ? &*known->second : nullptr;
  }

 private:
  // By a module, whose results have other holders then than the names that get them.
  [[nodiscard]] bool are_kept() {
    if (!are_kept_) {
      are_kept_ = std::ranges::any_of(of_.names.sources(), [&](const auto& file) {
        // Without the word there is nothing to parse for it.
        if (file.second.text.find("forward") == std::string::npos) return false;
        const auto* const text = text_of(std::string(file.first));
        return text != nullptr && program::has_modules_that_keep(*text);
      });
    }
    return *are_kept_;
  }

  [[nodiscard]] std::optional<holder> find(trace::stack_id stack, free_from when) {
    const auto frames = frames_around_model(of_, stack);
    for (auto frame = std::ranges::find_if(frames, &code::source_frame::user);
         frame != frames.end(); ++frame) {
      if (!frame->user) {
        if (frame->file.find("/torch/") == std::string::npos) break;  // a library's loop
        continue;
      }
      const auto* const text = text_of(frame->file);
      if (text == nullptr) break;
      // A line asks for many blocks, by many stacks: the text is asked once.
      const auto [known, fresh] = answers_.try_emplace({frame->file, frame->line, when});
      if (fresh) known->second = program::holders_at(*text, frame->line, when);
      const auto& found = known->second;
      if (found.is == program::last_read::not_there) continue;
      if (found.is == program::last_read::not_known) break;
      return holder{code::place_of(*frame, 1), found.names, found.line};
    }
    return std::nullopt;
  }

  [[nodiscard]] const program::source_file* text_of(const std::string& file) {
    const auto [known, fresh] = texts_.try_emplace(file);
    const auto text = fresh ? code::source_of(of_.names, file) : std::nullopt;
    if (text) known->second = std::make_unique<program::source_file>(std::string(*text));
    return known->second.get();
  }

  const blocks::evidence& of_;
  deaths_seen deaths_;
  std::map<std::pair<trace::stack_id, free_from>, std::optional<holder>> found_;
  std::map<std::string, std::unique_ptr<program::source_file>> texts_;
  std::optional<bool> are_kept_;
  std::map<std::tuple<std::string, std::uint32_t, free_from>, program::name_holders> answers_;
};

// From which event on nothing reads a block any more. Past the last event: not known.
class uses {
 public:
  explicit uses(const blocks::evidence& of)
      : of_(of), passes_(passes_of(of)), turns_(turns_of_loops(of)), holders_(of, turns_) {}

  struct late {
    std::uint64_t from = 0;
    free_from where = free_from::end_of_turn;
    const holder* by = nullptr;
  };

  // Results that backward does not need are late as soon as it begins, and where the program reads
  // them after it, when the turn is over.
  [[nodiscard]] late of(block_number block) {
    const auto never = late{end_event(of_), free_from::end_of_turn, nullptr};
    if (!can_be_late(block) || !is_replaced(block)) return never;
    const auto stack = of_.blocks[block].stack;
    const bool in_training = passes_.of_block[block] == blocks::activity::training;
    const auto* const pass = in_training ? used_by(block) : nullptr;
    if (in_training && pass == nullptr) return never;
    if (in_training && !of_.blocks[block].kept_by_autograd) {
      const auto* const by = holders_.of(stack, free_from::backward);
      if (by != nullptr && pass->backward < death_event(of_, block))
        return {pass->backward, free_from::backward, by};
    }
    const auto over = std::max(turns_[block].over, in_training ? pass->end : 0);
    if (over >= death_event(of_, block)) return never;
    const auto* const by = holders_.of(stack, free_from::end_of_turn);
    return by == nullptr ? never : late{over, free_from::end_of_turn, by};
  }

 private:
  // A block that lives on and on is collected: nobody forgot it.
  [[nodiscard]] bool is_replaced(block_number block) const {
    const auto death = death_event(of_, block);
    const auto next = turns_[block].next_over;
    return death < next || next == end_event(of_);
  }

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
        return passes_.of_block[block] != blocks::activity::neither;
      default:
        return false;
    }
  }

  // The pass of training that uses it: its own, or of what the program makes before a forward pass
  // that one. Null: none follows.
  [[nodiscard]] const blocks::training_pass* used_by(block_number block) const {
    const auto birth = birth_event(of_, block);
    const auto own = passes_.at(birth);
    if (own && birth < passes_.training[*own].end) return &passes_.training[*own];
    const auto next = own ? *own + 1 : 0;
    return next < passes_.training.size() ? &passes_.training[next] : nullptr;
  }

  const blocks::evidence& of_;
  blocks::run_passes passes_;
  std::vector<blocks::loop_turns> turns_;
  holders holders_;
};

// What one statement makes.
struct late_names {
  std::uint64_t bytes = 0;  // at the peak; of what is not late there: of its largest block
  std::uint64_t most = 0;   // of one block
  trace::stack_id stack;    // of it
  free_from where = free_from::end_of_turn;
  holder by;
};

struct found_late {
  std::vector<late_names> all;  // most bytes first
  std::uint64_t bytes = 0;
};

// By where the names are given, and from where on they are free.
using late_by_place = std::map<std::pair<std::string, free_from>, late_names>;

[[nodiscard]] found_late sorted(const late_by_place& places) {
  found_late found;
  for (const auto& one : places) {
    found.all.push_back(one.second);
    found.bytes += one.second.bytes;
  }
  std::ranges::stable_sort(found.all, std::greater<>(), &late_names::bytes);
  return found;
}

[[nodiscard]] found_late find(const blocks::evidence& of, uses& used) {
  if (of.now.allocated.request >= of.log.events.size()) return {};
  const auto peak = of.log.events[of.now.allocated.request];
  late_by_place places;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto stack = of.blocks[block].stack;
    const auto late = used.of(block);
    if (late.from > peak || late.by == nullptr || is_loaded(of, stack)) continue;
    auto& found = places[{late.by->place, late.where}];
    const auto bytes = bytes_of(of, block);
    found.bytes += bytes;
    if (bytes <= found.most) continue;
    found = {found.bytes, bytes, stack, late.where, *late.by};
  }
  return sorted(places);
}

// And what other statements make in a turn that outlives it: not late at the peak, but where the cache
// has no place for the next turn's while it is there.
[[nodiscard]] found_late with_all_of_a_turn(const blocks::evidence& of, uses& used,
                                            found_late found) {
  late_by_place beside;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto bytes = bytes_of(of, block);
    if (bytes < least_bytes) continue;
    const auto late = used.of(block);
    const auto stack = of.blocks[block].stack;
    const bool outlives_its_turn = late.by != nullptr && late.from < death_event(of, block) &&
                                   late.where == free_from::end_of_turn && !is_loaded(of, stack);
    if (!outlives_its_turn) continue;
    auto& names = beside[{late.by->place, late.where}];
    if (bytes > names.bytes) names = {bytes, bytes, stack, late.where, *late.by};
  }
  for (const auto& one : found.all) beside.erase({one.by.place, one.where});
  const auto others = sorted(beside);
  found.all.insert(found.all.end(), others.all.begin(), others.all.end());
  return found;
}

struct early_free {
  block_number block = 0;
  std::uint64_t event = 0;
};

// As what_to_write() says it: what these names hold, and from when on.
[[nodiscard]] std::vector<early_free> frees_of(const blocks::evidence& of, uses& used,
                                               const found_late& found) {
  std::set<std::pair<std::string, free_from>> told;
  for (const auto& one : found.all) {
    if (one.bytes >= least_bytes) told.emplace(one.by.place, one.where);
  }
  std::vector<early_free> all;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (bytes_of(of, block) < least_bytes) continue;
    const auto late = used.of(block);
    const bool is_told = late.by != nullptr && told.contains({late.by->place, late.where});
    if (is_told && late.from < death_event(of, block)) all.push_back({block, late.from});
  }
  return all;
}

[[nodiscard]] std::string what_to_write(const found_late& found) {
  std::string words;
  std::size_t told = 0;
  for (const auto& one : found.all) {
    if (one.bytes < least_bytes || told == most_told) continue;
    ++told;
    words += fmt::format("{}`del {}` {} ({} at {})", words.empty() ? "" : "; ",
                         fmt::join(one.by.names, ", "),
                         one.where == free_from::backward
                             ? fmt::format("before backward() in line {}", one.by.backward_line)
                             : std::string("at the end of each turn of the loop"),
                         bytes_in_words(one.bytes), one.by.place);
  }
  return words;
}

// Both say what is late at the peak; they differ in the names to write it for.
[[nodiscard]] proposal freeing(const blocks::evidence& of, uses& used, const found_late& found) {
  proposal made;
  made.id = "free_earlier";
  made.group = free_earlier_group;
  made.how = proof::replayed;
  made.title = "Results are held at the peak though nothing reads them any more";
  made.change = what_to_write(found);
  made.evidence = fmt::format("{} are alive at the peak after the program's last read of them",
                              bytes_in_words(found.bytes));
  made.about = {found.bytes, "are not used again"};
  made.free = true;
  made.cost = "none known";
  made.not_when = "code that the program's text does not show reads the same memory afterwards";
  made.device = of.log.device;
  made.stack = found.all.front().stack;
  made.rewrite = [frees = frees_of(of, used, found)](allocator::request_log& log) {
    request_edits edits;
    for (const auto& one : frees) edits.free_at(one.block, one.event);
    edits.apply(log);
  };
  return made;
}

}  // namespace

proposals free_earlier(const blocks::evidence& of) {
  uses used(of);
  const auto found = find(of, used);
  if (found.bytes < least_bytes) return {};
  const auto more = with_all_of_a_turn(of, used, found);
  proposals all = {freeing(of, used, found)};
  if (more.all.size() > found.all.size()) all.push_back(freeing(of, used, more));
  return all;
}

}  // namespace memtrace::advice
