// SPDX-License-Identifier: Apache-2.0
//
// Checkpointing of the modules that a model repeats: of each only its input stays until its
// backward pass, in which its forward runs again.
//
//   forward   [layer 0: kept, kept, out] [layer 1: kept, kept, out] …
//   becomes   [layer 0: ─── freed ─, out] …    backward: [layer 1 again, its gradients] [layer 0 …
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

constexpr std::size_t most_classes = 3;

// One module in one call of its model, in a training pass.
struct module_pass {
  std::vector<block_number> forward;   // its blocks, in their order
  std::uint64_t end = 0;               // the first block of another module after them
  bool output_is_kept = true;          // by what uses it
  std::uint64_t again = 0;             // its first block in backward; 0: none
  std::uint64_t after = 0;             // the first block of another module after those; 0: none
  std::uint64_t backward = 0;          // of the whole pass
  block_number input = blocks::never;  // what was made right before, for the module as it seems
};

// By training pass, copy and call: one backward pass may be of several calls.
struct pass_key {
  std::size_t pass = 0;
  std::uint32_t copy = 0;
  std::uint32_t call = 0;
  [[nodiscard]] auto operator<=>(const pass_key&) const = default;
};
using passes_by_module = std::map<pass_key, module_pass>;

// Blocks that a module makes in backward without another module's between them.
struct backward_run {
  std::uint64_t begin = 0;
  std::uint64_t after = 0;  // the first block of another module after them; 0: none
};
using backward_runs = std::map<std::pair<std::size_t, std::uint32_t>, std::vector<backward_run>>;

// Gives each call of a module the runs in which its blocks are freed: from the one before the first
// of them goes, to the next call's.
void share_out(const blocks::evidence& of, const std::vector<backward_run>& runs,
               const std::vector<module_pass*>& calls) {
  const auto& refused = of.log.refused_events;
  std::vector<std::pair<std::uint64_t, module_pass*>> by_first_death;
  for (auto* const call : calls) {
    auto first = end_event(of);
    for (const auto block : call->forward) {
      const auto death = death_event(of, block);
      if (death > call->backward) first = std::min(first, death);
    }
    const bool is_cut_off =
        !refused.empty() && refused.back() >= call->backward && first > refused.back();
    if (calls.size() == 1 || !is_cut_off) by_first_death.emplace_back(first, call);
  }
  std::ranges::stable_sort(by_first_death, {}, &std::pair<std::uint64_t, module_pass*>::first);
  std::size_t next = 0;
  module_pass* before = nullptr;
  for (const auto& [death, call] : by_first_death) {
    auto run = next;
    while (calls.size() > 1 && run + 1 < runs.size() && runs[run + 1].begin < death) ++run;
    if (run >= runs.size()) break;
    if (before == nullptr) run = 0;
    if (before != nullptr) before->after = runs[run - 1].after;
    call->again = runs[run].begin;
    call->after = runs.back().after;
    before = call;
    next = run + 1;
  }
}

// Places of the forward pass whose operation keeps nothing of what it is given: resampling.
[[nodiscard]] std::set<trace::stack_id> places_that_keep_nothing(const blocks::evidence& of) {
  std::set<trace::stack_id> found;
  for (const auto& facts : of.blocks) {
    if (facts.forward && of.names[facts.node].starts_with("Upsample")) found.insert(facts.forward);
  }
  return found;
}

// The result of the operation that ran last: the largest of the blocks of one line.
class latest_result {
 public:
  void look_at(const blocks::evidence& of, block_number block) {
    const auto& facts = of.blocks[block];
    const bool same_line = block_ != blocks::never && facts.stack == stack_ &&
                           facts.call == call_ && facts.module == module_;
    if (!same_line || bytes_of(of, block) > bytes_of(of, block_)) block_ = block;
    stack_ = facts.stack;
    call_ = facts.call;
    module_ = facts.module;
  }
  // The block that a module of this call may be given; never: none that is there.
  [[nodiscard]] block_number given_to(const blocks::evidence& of, block_number first) const {
    const bool there = block_ != blocks::never && call_ == of.blocks[first].call &&
                       death_event(of, block_) > birth_event(of, first);
    return there ? block_ : blocks::never;
  }

 private:
  block_number block_ = blocks::never;
  trace::stack_id stack_;
  std::uint32_t call_ = 0;
  trace::object_id module_;
};

// That which an event belongs to, where its forward is done or memory ran out in it; and the event
// at which its backward pass begins, or would have.
struct pass_of_event {
  std::size_t number = 0;
  std::uint64_t backward = 0;
};
[[nodiscard]] std::optional<pass_of_event> pass_at(const blocks::evidence& of,
                                                   const blocks::run_passes& passes,
                                                   std::uint64_t event) {
  const auto& refused = of.log.refused_events;
  if (passes.unfinished && event >= *passes.unfinished) {
    if (refused.empty() || refused.back() < event) return std::nullopt;
    return pass_of_event{passes.training.size(), refused.back()};
  }
  const auto pass = passes.at(event);
  if (!pass) return std::nullopt;
  return pass_of_event{*pass, passes.training[*pass].backward};
}

[[nodiscard]] passes_by_module module_passes(const blocks::evidence& of,
                                             const blocks::run_passes& passes,
                                             const module_copies& copies) {
  passes_by_module found;
  backward_runs runs;
  const auto keep_nothing = places_that_keep_nothing(of);
  module_pass* running = nullptr;
  std::vector<backward_run>* running_back = nullptr;
  latest_result latest;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const bool forward = facts.born_in == phase::forward && !facts.recomputed;
    const bool backward = facts.born_in == phase::backward;
    if (passes.of_block[block] != blocks::activity::training || (!forward && !backward)) continue;
    const auto event = birth_event(of, block);
    const auto pass = pass_at(of, passes, event);
    if (!pass) continue;
    const auto copy = copies.of(facts.module);
    const bool is_of_copy = copy != module_copies::none;
    auto* const now = forward && is_of_copy ? &found[{pass->number, copy, facts.call}] : nullptr;
    if (running != nullptr && running != now && running->end == 0) {
      running->end = event;
      running->output_is_kept = !keep_nothing.contains(facts.stack);
    }
    running = now;
    if (backward) {
      auto* const back = is_of_copy ? &runs[{pass->number, copy}] : nullptr;
      if (running_back != nullptr && running_back != back) running_back->back().after = event;
      if (back != nullptr && running_back != back) back->push_back({event, 0});
      running_back = back;
    }
    const auto before = latest.given_to(of, block);
    if (forward) latest.look_at(of, block);
    if (now == nullptr) continue;
    now->backward = pass->backward;
    if (now->forward.empty()) now->input = before;
    now->forward.push_back(block);
    now->end = 0;
  }
  for (const auto& [of_copy, of_runs] : runs) {
    std::vector<module_pass*> calls;
    const auto& [pass, copy] = of_copy;
    for (auto at = found.lower_bound({pass, copy, 0}); at != found.end(); ++at) {
      if (at->first.pass != pass || at->first.copy != copy) break;
      calls.push_back(&at->second);
    }
    share_out(of, of_runs, calls);
  }
  return found;
}

// What the last operation of those leaves whose result outlives the module: its output, that the
// next one keeps. Of several blocks of an operation (a result, and the means that are kept for its
// gradient) it is the largest.
[[nodiscard]] block_number output_of(const blocks::evidence& of, const module_pass& pass) {
  block_number output = blocks::never;
  for (auto block = pass.forward.rbegin(); block != pass.forward.rend(); ++block) {
    const auto& facts = of.blocks[*block];
    if (output != blocks::never) {
      const auto& found = of.blocks[output];
      if (facts.stack != found.stack || facts.module != found.module) break;
    }
    if (death_event(of, *block) <= pass.end || facts.cast_copy) continue;
    if (output == blocks::never || bytes_of(of, *block) > bytes_of(of, output)) output = *block;
  }
  return output;
}

// Kept by autograd alone: given back when the module's gradients are there. What lives longer is
// held by others, such as keys and values by a cache.
[[nodiscard]] bool is_dropped(const blocks::evidence& of, const module_pass& pass,
                              block_number block, block_number output) {
  constexpr std::uint64_t soon_after = 32;
  const auto death = death_event(of, block);
  if (block == output || death <= pass.end || death <= pass.backward) return false;
  return pass.after == 0 || death <= pass.after + soon_after || of.blocks[block].cast_copy;
}

// The forward's allocations and frees again, in their order, right before the module's gradients
// are computed. What it kept then lives as long as before; its output is not needed.
void run_again(const blocks::evidence& of, const module_pass& pass, block_number output,
               request_edits& edits) {
  struct action {
    std::uint64_t event;
    std::size_t index;
    bool allocates;
  };
  std::vector<action> actions;
  for (std::size_t i = 0; i < pass.forward.size(); ++i) {
    const auto block = pass.forward[i];
    if (block == output) break;
    actions.push_back({birth_event(of, block), i, true});
    if (!is_dropped(of, pass, block, output)) {
      actions.push_back({std::min(death_event(of, block), pass.end), i, false});
    }
  }
  std::stable_sort(actions.begin(), actions.end(), [](const action& left, const action& right) {
    return left.event < right.event;
  });
  std::vector<request_edits::added> made(pass.forward.size());
  for (const auto& one : actions) {
    if (one.allocates) {
      made[one.index] = edits.allocate(pass.again, pass.forward[one.index]);
    } else {
      edits.free(made[one.index], pass.again);
    }
  }
  for (std::size_t i = 0; i < pass.forward.size() && pass.forward[i] != output; ++i) {
    const auto block = pass.forward[i];
    if (is_dropped(of, pass, block, output)) edits.free(made[i], death_event(of, block));
  }
}

// Memory ran out before this module's turn in the backward pass.
[[nodiscard]] bool is_cut_off(const blocks::evidence& of, const module_pass& pass) {
  const auto& refused = of.log.refused_events;
  return pass.again == 0 && !refused.empty() && refused.back() >= pass.backward;
}

// Of the modules that memory ran out before: one at a time will be run again.
void keep_room_for_one(const blocks::evidence& of, const passes_by_module& all,
                       request_edits& edits) {
  std::vector<block_number> largest;
  std::uint64_t most = 0;
  for (const auto& [key, pass] : all) {
    if (pass.forward.empty() || pass.end == 0 || !is_cut_off(of, pass)) continue;
    const auto output = output_of(of, pass);
    std::vector<block_number> made;
    std::uint64_t bytes = 0;
    for (const auto block : pass.forward) {
      if (!is_dropped(of, pass, block, output)) continue;
      made.push_back(block);
      bytes += bytes_of(of, block);
    }
    if (bytes > most) {
      most = bytes;
      largest = std::move(made);
    }
  }
  for (const auto block : largest) (void)edits.allocate(of.log.refused_events.back(), block);
}

void checkpoint(const blocks::evidence& of, const module_copies& copies, request_edits& edits) {
  const auto all = module_passes(of, passes_of(of), copies);
  keep_room_for_one(of, all, edits);
  for (const auto& [key, pass] : all) {
    if (pass.forward.empty() || pass.end == 0) continue;
    if (pass.again == 0 && !is_cut_off(of, pass)) continue;
    const auto output = output_of(of, pass);
    const auto kept = pass.output_is_kept ? output : blocks::never;
    for (const auto block : pass.forward) {
      if (!is_dropped(of, pass, block, kept)) continue;
      if (block == output) {  // what uses it is made first
        edits.free_at(block, pass.end + 1);
        continue;
      }
      // Autocast keeps its copies of weights until the forward is over.
      edits.free_at(block, of.blocks[block].cast_copy ? pass.backward : pass.end);
    }
    if (pass.again == 0) continue;
    run_again(of, pass, kept, edits);
    // Autograd may have kept nothing but what the module made of it.
    if (pass.input != blocks::never && bytes_of(of, pass.input) != 0 &&
        death_event(of, pass.input) < pass.again) {
      edits.free_at(pass.input, pass.again + 1);
    }
  }
}

// Bytes that would be dropped and that come back, in the pass in which most is kept.
struct kept_bytes {
  std::uint64_t all = 0;
  std::uint64_t largest = 0;  // of one module
  std::uint32_t modules = 0;
  std::vector<std::string> lines;  // that call modules of the class
  trace::stack_id stack;           // of a block that one of them makes itself
};

[[nodiscard]] kept_bytes look_at(const blocks::evidence& of, const blocks::run_passes& passes,
                                 const module_copies& copies) {
  std::map<std::size_t, kept_bytes> by_pass;
  std::map<std::size_t, std::uint32_t> latest;  // copy, by pass: its calls follow each other
  std::vector<std::string> lines;
  std::set<trace::stack_id> stacks;
  trace::stack_id stack;
  for (const auto& [key, pass] : module_passes(of, passes, copies)) {
    if (pass.forward.empty() || pass.end == 0) continue;
    const auto output = output_of(of, pass);
    std::uint64_t bytes = 0;
    for (const auto block : pass.forward) {
      if (is_dropped(of, pass, block, output)) bytes += bytes_of(of, block);
      const auto facts = of.blocks[block];
      if (!copies.is_copy_itself(facts.module) || !stacks.insert(facts.stack).second) continue;
      if (!stack) stack = facts.stack;
      auto line = line_that_calls_module(of, facts.stack);
      if (!line.empty() && std::ranges::find(lines, line) == lines.end())
        lines.push_back(std::move(line));
    }
    auto& sum = by_pass[key.pass];
    sum.all += bytes;
    sum.largest = std::max(sum.largest, bytes);
    const auto [copy, is_first] = latest.try_emplace(key.pass, key.copy);
    if (is_first || std::exchange(copy->second, key.copy) != key.copy) ++sum.modules;
  }
  kept_bytes most;
  for (const auto& [pass, sum] : by_pass) {
    if (sum.all > most.all) most = sum;
  }
  most.lines = std::move(lines);
  most.stack = stack;
  return most;
}

// By transformers' own switch, which takes the outermost modules that a model repeats.
[[nodiscard]] bool is_of_transformers(const kept_bytes& kept) {
  return !kept.lines.empty() && kept.lines.front().find("modeling_") != std::string::npos;
}

// " at model.py:12 forward and model.py:20 forward"; those of an nn.Sequential are none of the program's.
[[nodiscard]] std::string places_of(const kept_bytes& kept) {
  std::string places;
  for (const auto& line : kept.lines) {
    const bool is_of_sequential = line.starts_with("container.py:");
    const auto place = is_of_sequential ? std::string("in an nn.Sequential") : "at " + line;
    if (places.find(place) == places.npos) places += (places.empty() ? " " : " and ") + place;
  }
  return places;
}

// All modules of the one class are inside of those of the other.
[[nodiscard]] bool is_inside(const blocks::evidence& of, const std::string& type,
                             const std::string& other) {
  const module_copies inner(of, type);
  const module_copies outer(of, other);
  return std::ranges::all_of(of.modules, [&](const auto& module) {
    return !inner.is_copy_itself(module.first) ||
           (outer.of(module.first) != module_copies::none && !outer.is_copy_itself(module.first));
  });
}

[[nodiscard]] std::string what_to_write(const kept_bytes& kept, const std::string& type,
                                        loop_owner owner) {
  const auto where = places_of(kept);
  if (is_of_transformers(kept)) {
    return fmt::format("{} (each {}{})",
                       owner == loop_owner::transformers
                           ? "gradient_checkpointing=True in TrainingArguments"
                           : "model.gradient_checkpointing_enable()",
                       type, where);
  }
  return fmt::format(
      "torch.utils.checkpoint.checkpoint(module, …, use_reentrant=False) instead of module(…) for "
      "each {}{}",
      type, where);
}

[[nodiscard]] proposal propose(const blocks::evidence& of, const std::string& type,
                               const kept_bytes& kept, loop_owner owner) {
  proposal made;
  made.id = "checkpointing";
  made.group = "checkpointing";
  made.after_sizes = true;  // it makes blocks again
  made.amount = type;
  made.title = "Activations inside repeated modules are kept for the whole backward pass";
  made.change = what_to_write(kept, type, owner);
  made.evidence =
      fmt::format("{} modules {} keep {} for backward, the largest of them {}", kept.modules, type,
                  bytes_in_words(kept.all), bytes_in_words(kept.largest));
  made.source =
      "each module keeps its input only and runs forward again in backward (Chen et al., arXiv "
      "1604.06174)";
  made.cost =
      "the forward of these modules runs twice: up to a third more computation, if backward takes "
      "twice as long as forward";
  made.not_when =
      "time matters more than memory; modules whose forward has side effects (batch normalisation "
      "updates its statistics twice)";
  made.device = of.log.device;
  made.stack = kept.stack;
  made.rewrite = [&of, type](allocator::request_log& log) {
    request_edits edits;
    checkpoint(of, module_copies(of, type), edits);
    edits.apply(log);
  };
  return made;
}

}  // namespace

proposals checkpointing(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (!passes.trains()) return {};
  std::vector<std::pair<kept_bytes, std::string>> found;
  for (const auto& type : repeated_types(of)) {
    const auto kept = look_at(of, passes, module_copies(of, type));
    if (kept.modules > 1 && kept.all > kept.largest) found.push_back({kept, type});
  }
  const auto all_found = found;
  std::erase_if(found, [&](const auto& one) {
    return is_of_transformers(one.first) && std::ranges::any_of(all_found, [&](const auto& other) {
             return other.second != one.second && is_of_transformers(other.first) &&
                    is_inside(of, one.second, other.second);
           });
  });
  std::stable_sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
    return left.first.all - left.first.largest > right.first.all - right.first.largest;
  });
  if (found.size() > most_classes) found.resize(most_classes);
  proposals all;
  const auto owner = owner_of_loop(of, passes);
  for (const auto& [kept, type] : found) all.push_back(propose(of, type, kept, owner));
  return all;
}

}  // namespace memtrace::advice
