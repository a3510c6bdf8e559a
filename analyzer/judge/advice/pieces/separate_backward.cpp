// SPDX-License-Identifier: Apache-2.0
//
// A backward pass for each call of a model, where one now waits for several: the graphs of all of
// them are alive at once, and only their losses are added.
//
//   forward 1  forward 2  forward 3  backward of 3, 2, 1
//   becomes    forward 1, backward   forward 2, backward   forward 3, backward
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/program/later_uses.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// A loss has one element, of 64 bits at most.
constexpr std::uint64_t most_of_a_number = 8;

struct model_call {
  std::uint32_t number = 0;
  trace::object_id root;
  trace::stack_id stack;  // of its first block
  std::uint64_t begin = 0;
  bool makes_a_number = false;
  // Lines that make more than a number before the next call; how much at once, at most.
  std::map<trace::stack_id, std::uint64_t> after;
};

// The calls of a model that one backward pass follows, or would have followed.
struct call_group {
  std::vector<model_call> calls;
  std::uint64_t backward = 0;  // the event at which it begins; of a refusal, where memory ran out
  std::uint64_t end = 0;
  bool is_finished = false;
  std::uint64_t before = 0;  // the event at which the backward pass before it began
};

[[nodiscard]] std::vector<model_call> calls_between(const blocks::evidence& of,
                                                    const blocks::run_passes& passes,
                                                    std::uint64_t begin, std::uint64_t end) {
  std::vector<model_call> calls;
  for (auto block = block_from(of, begin); block < of.blocks.size(); ++block) {
    const auto event = birth_event(of, block);
    if (event >= end) break;
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != blocks::activity::training || facts.born_in != phase::forward)
      continue;
    const bool is_new = facts.call != 0 && (calls.empty() || calls.back().number != facts.call);
    if (is_new) calls.push_back({facts.call, facts.root, facts.stack, event, false, {}});
    if (calls.empty()) continue;
    auto& call = calls.back();
    if (bytes_of(of, block) <= most_of_a_number) {
      call.makes_a_number = true;
    } else if (facts.call == 0) {
      auto& most = call.after[facts.stack];
      most = std::max(most, bytes_of(of, block));
    }
  }
  return calls;
}

// Whether nothing but numbers is made of what several calls have left: what follows the last call
// has followed each of them, or has room for no more than a number of each, as torch.stack(losses).
// A loss over pairs is made once, of all results.
[[nodiscard]] bool have_losses_of_their_own(const std::vector<model_call>& calls) {
  const auto& first = calls.front();
  const auto numbers = calls.size() * most_of_a_number;
  return std::ranges::all_of(calls, [&](const model_call& one) {
    const bool has_same = std::ranges::all_of(calls.back().after, [&](const auto& made) {
      return made.second <= numbers || one.after.contains(made.first);
    });
    return one.makes_a_number && one.root == first.root && one.stack == first.stack && has_same;
  });
}

[[nodiscard]] bool is_freed_by(const blocks::evidence& of, const call_group& group,
                               block_number block) {
  const auto death = death_event(of, block);
  if (!group.is_finished) return death > group.backward;
  return death > group.backward && death <= group.end;
}

[[nodiscard]] std::vector<call_group> finished_groups(const blocks::evidence& of,
                                                      const blocks::run_passes& passes) {
  std::vector<call_group> groups;
  std::uint64_t before = 0;
  for (const auto& pass : passes.training) {
    call_group group{calls_between(of, passes, pass.forward, pass.backward), pass.backward,
                     pass.end, true, std::exchange(before, pass.backward)};
    if (group.calls.size() > 1 && have_losses_of_their_own(group.calls))
      groups.push_back(std::move(group));
  }
  return groups;
}

// The forward passes in which memory ran out, where the program calls backward after its loop.
[[nodiscard]] std::optional<call_group> refused_group(const blocks::evidence& of,
                                                      const blocks::run_passes& passes) {
  const auto& refused = of.log.refused_events;
  if (!passes.unfinished || refused.empty() || refused.back() < *passes.unfinished) return {};
  call_group group{calls_between(of, passes, *passes.unfinished, refused.back()), refused.back(),
                   end_event(of), false, 0};
  if (group.calls.size() < 2) return {};
  const auto running = std::move(group.calls.back());
  group.calls.pop_back();
  const bool is_alike = have_losses_of_their_own(group.calls) &&
                        running.root == group.calls.front().root &&
                        running.stack == group.calls.front().stack;
  group.calls.push_back(running);
  return is_alike ? std::optional(std::move(group)) : std::nullopt;
}

// Whether a file that these lines lie in calls backward() after the loop that leads to them, on a sum of
// what its turns gave.
[[nodiscard]] bool adds_up_losses(const blocks::evidence& of, trace::stack_id stack) {
  std::map<std::string, std::vector<std::uint32_t>> lines;
  for (const auto& frame : code::frames_of(of.names, stack)) {
    if (frame.user) lines[std::string(frame.file)].push_back(frame.line);
  }
  return std::ranges::any_of(lines, [&](const auto& of_file) {
    const auto text = code::source_of(of.names, of_file.first);
    if (!text) return false;
    const program::source_file source{std::string(*text)};
    return std::ranges::any_of(of_file.second, [&](std::uint32_t line) {
      return program::is_backward_of_sum(source, line);
    });
  });
}

struct found_groups {
  std::vector<call_group> all;
  std::size_t most_calls = 0;
  std::uint64_t bytes = 0;  // that wait for the backward pass besides those of one call
};

[[nodiscard]] found_groups find(const blocks::evidence& of, const blocks::run_passes& passes) {
  found_groups found;
  found.all = finished_groups(of, passes);
  auto refused = refused_group(of, passes);
  if (refused) found.all.push_back(std::move(*refused));
  std::map<trace::stack_id, bool> adds;
  std::erase_if(found.all, [&](const call_group& one) {
    const auto stack = one.calls.front().stack;
    const auto [known, fresh] = adds.try_emplace(stack, false);
    if (fresh) known->second = adds_up_losses(of, stack);
    return !known->second;
  });
  for (const auto& group : found.all) {
    found.most_calls = std::max(found.most_calls, group.calls.size());
    std::uint64_t bytes = 0;
    for (auto block = block_from(of, group.calls.front().begin); block < of.blocks.size();
         ++block) {
      if (birth_event(of, block) >= group.calls.back().begin) break;
      if (of.blocks[block].call != 0 && is_freed_by(of, group, block)) bytes += bytes_of(of, block);
    }
    found.bytes = std::max(found.bytes, bytes);
  }
  return found;
}

// The gradients of the step before go before the first call. The graph of each call but the last goes
// before the next one begins. Gradients are there from the second call on, and what backward makes is
// added to them.
void separate(const blocks::evidence& of, const call_group& group, request_edits& edits) {
  const auto first = group.calls.front().begin;
  const auto second = group.calls[1].begin;
  const auto begin = group.is_finished ? block_from(of, first) : 0;
  for (auto block = block_from(of, group.before); block < begin; ++block) {
    const auto death = death_event(of, block);
    const bool goes =
        of.blocks[block].what == category::gradients && death > first && death <= group.backward;
    if (goes) edits.free_at(block, first);
  }
  for (std::size_t i = 0; i + 1 < group.calls.size(); ++i) {
    const auto next = group.calls[i + 1].begin;
    for (auto block = block_from(of, group.calls[i].begin); block < of.blocks.size(); ++block) {
      if (birth_event(of, block) >= next) break;
      const bool is_of_graph = of.blocks[block].born_in == phase::forward;
      if (is_of_graph && is_freed_by(of, group, block)) edits.free_at(block, next);
    }
  }
  if (!group.is_finished) {
    expect_gradients(of, second, edits);
    return;
  }
  for (auto block = block_from(of, group.backward); block < of.blocks.size(); ++block) {
    const auto birth = birth_event(of, block);
    if (birth >= group.end) break;
    if (of.blocks[block].what != category::gradients) continue;
    edits.free(edits.allocate(second, block), birth + 1);
  }
}

}  // namespace

proposals separate_backward(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  // A library's loop has its own accumulation.
  if (!passes.trains() || owner_of_loop(of, passes) != loop_owner::program) return {};
  const auto found = std::make_shared<found_groups>(find(of, passes));
  if (found->all.empty()) return {};
  proposal made;
  made.id = "separate_backward";
  made.title = "One backward pass waits for several forward passes, whose graphs stay until then";
  made.change =
      "call backward() on each loss where it is computed, in the loop, instead of once on their "
      "sum (of a mean: on each loss divided by their number); optimizer.zero_grad() before the "
      "loop, optimizer.step() after it";
  made.evidence = fmt::format("{} of {} calls of the model wait for one backward pass",
                              bytes_in_words(found->bytes), found->most_calls);
  made.about = {found->bytes, "are graphs that wait for one backward pass"};
  made.source =
      "the gradient of a sum is the sum of the gradients: each graph goes after its own backward "
      "pass, and gradients are there from the second call on";
  made.cost = "none known: the same computation in another order";
  made.free = true;
  made.not_when = "the loss is more than the sum of those of the calls, such as their product";
  made.device = of.log.device;
  made.stack = found->all.front().calls.front().stack;
  made.rewrite = [&of, found](allocator::request_log& log) {
    request_edits edits;
    for (const auto& group : found->all) separate(of, group, edits);
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
