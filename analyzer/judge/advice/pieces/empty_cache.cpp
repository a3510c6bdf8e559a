// SPDX-License-Identifier: Apache-2.0
//
// torch.cuda.empty_cache(): left out where it only costs, put in where what one part of the program
// has cached does not fit what the next one asks for.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/model/attribution/terms.h"

namespace memtrace::advice {

namespace {

using allocator::action;
using attribution::phase;

constexpr std::size_t most_places = 100'000;

[[nodiscard]] std::uint64_t calls_of(const blocks::evidence& of) {
  return static_cast<std::uint64_t>(
      std::count_if(of.log.requests.begin(), of.log.requests.end(),
                    [](const auto& one) { return one.what() == action::empty_cache; }));
}

// Events of the first allocations after a change.
struct changes {
  std::vector<std::uint64_t> to_training;
  std::vector<std::uint64_t> to_evaluation;
  std::vector<std::uint64_t> to_first_forward;  // one at most
};

[[nodiscard]] changes changes_of(const blocks::evidence& of) {
  changes found;
  bool evaluates = false;
  bool forward = false;
  for (std::size_t block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const auto request = of.log.allocations[block];
    if (request >= of.log.events.size()) continue;
    const auto event = of.log.events[request];
    const bool runs = facts.born_in == phase::forward || facts.born_in == phase::evaluation;
    if (runs && !forward) found.to_first_forward.push_back(event);
    forward = forward || runs;
    const bool trains = facts.born_in == phase::forward || facts.born_in == phase::backward;
    if (facts.evaluation && !evaluates) found.to_evaluation.push_back(event);
    if (trains && evaluates) found.to_training.push_back(event);
    evaluates = facts.evaluation || (evaluates && !trains);
  }
  return found;
}

// The habit's figures come from the trace; that nothing is lost without it is for the replay.
[[nodiscard]] proposals leave_out(const blocks::evidence& of) {
  proposals found;
  const auto calls = calls_of(of);
  if (calls == 0) return found;
  for (const auto& habit : of.findings.habits) {
    if (habit.calls != format::operation::empty_cache_begin) continue;
    proposal what;
    what.id = "remove_empty_cache";
    what.title = habit.title;
    what.change = habit.change;
    what.evidence = habit.evidence;
    what.free = true;
    what.cost = "what it gives back stays reserved: nothing else on this GPU gets it";
    what.not_when = "where another process or library needs what it gives back";
    what.how = proof::measured;
    what.group = empty_cache_group;
    what.tells_of = habit.id;
    what.device = of.log.device;
    what.saves_ns = habit.nanoseconds;
    what.rewrite = allocator::remove_empty_cache;
    found.push_back(std::move(what));
  }
  return found;
}

void add_at(const blocks::evidence& of, std::string amount, std::string_view where,
            std::vector<std::uint64_t> events, proposals& to) {
  if (events.empty() || events.size() > most_places) return;
  proposal what;
  what.id = "add_empty_cache";
  what.title = "What one part of the program leaves cached does not fit what the next asks for";
  what.amount = std::move(amount);
  what.change = fmt::format("torch.cuda.empty_cache() {}", where);
  what.evidence = fmt::format("replayed with {} call{} at the recorded places",
                              text::format_count(events.size()), events.size() == 1 ? "" : "s");
  what.cost =
      "each call waits for the GPU and frees segments with cudaFree; what is needed again costs "
      "cudaMalloc";
  what.not_when = "where expandable_segments does as much: that costs nothing";
  what.how = proof::replayed;
  what.group = empty_cache_group;
  what.device = of.log.device;
  what.rewrite = [events = std::move(events)](allocator::request_log& log) {
    add_empty_cache(log, events);
  };
  to.push_back(std::move(what));
}

[[nodiscard]] std::vector<std::uint64_t> ends_of_steps(const blocks::evidence& of) {
  std::vector<std::uint64_t> events;
  for (const auto request : of.step_ends) {
    if (request < of.log.events.size()) events.push_back(of.log.events[request]);
  }
  return events;
}

}  // namespace

proposals empty_cache(const blocks::evidence& of) {
  auto found = leave_out(of);
  if (of.log.options.backend != allocator::backend::native) return found;
  auto when = changes_of(of);
  add_at(of, "after setup", "once, before the first step", std::move(when.to_first_forward), found);
  add_at(of, "after evaluation", "after each evaluation", when.to_training, found);
  add_at(of, "before evaluation", "before each evaluation", when.to_evaluation, found);
  auto both = std::move(when.to_training);
  both.insert(both.end(), when.to_evaluation.begin(), when.to_evaluation.end());
  std::sort(both.begin(), both.end());
  add_at(of, "around evaluation", "before and after each evaluation", std::move(both), found);
  add_at(of, "each step", "after each step", ends_of_steps(of), found);
  return found;
}

}  // namespace memtrace::advice
