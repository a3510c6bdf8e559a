// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/rules.h"

namespace memtrace::attribution {

namespace {

constexpr std::string_view kept_by_program = "held_after_backward";

[[nodiscard]] std::optional<classification> first_of(std::span<const rule> rules,
                                                     const rule_case& about) {
  for (const auto& candidate : rules) {
    const auto what = candidate.applies(about);
    if (!what) continue;
    classification found;
    found.what = *what;
    found.how = candidate.how;
    found.guess = candidate.guess;
    found.rule = candidate.name;
    return found;
  }
  return std::nullopt;
}

// Autograd lets go of what it keeps while a backward pass runs. What lives on after one and is
// freed outside of any was held by the program.
[[nodiscard]] bool held_by_program(const rule_case& about) {
  const auto& saved = about.block.saved;
  return saved.times != 0 && !about.end.in_backward &&
         about.end.passes.backwards_ended > saved.backwards_ended;
}

// Backward frees what autograd saved, but not the attributes of a Function's context: they stay
// until the graph is gone, with the loss that the next step's replaces.
[[nodiscard]] std::uint32_t passes_of_an_attribute(const rule_case& about) {
  return (about.block.saved.ever & format::saved_attribute) != 0 ? 1 : 0;
}

// What is freed after a request has failed says nothing of what it was for: the error takes the
// program out of what it was doing. Such a block is as one that lives to the end.
[[nodiscard]] life_end as_without_failure(const rule_case& about) {
  auto end = about.end;
  end.alive = end.alive || end.passes.refusals != about.block.born.passes.refusals;
  return end;
}

}  // namespace

bool made_by_program(const block_life& block) {
  const auto during = block.born.during;
  return block.born.call == 0 && during != phase::backward && during != phase::optimizer &&
         during != phase::evaluation;
}

bool within_its_call(const rule_case& about) {
  return !about.end.alive && about.end.call_running;
}

classification judge(const rule_case& freed) {
  const auto end = as_without_failure(freed);
  const rule_case about{freed.block, end, freed.marks, freed.run};
  // Of what was there before the recording neither origin nor beginning was seen: only what was said
  // of it counts.
  const bool was_there = (about.marks.any & mark::was_there) != 0;
  for (const auto rules : {told_rules(), origin_rules(), lifetime_rules()}) {
    if (was_there && rules.data() != told_rules().data()) break;
    auto found = first_of(rules, about);
    if (!found) continue;
    // How long it would have lived is not known.
    found->guess = found->guess || (about.end.alive && rules.data() == lifetime_rules().data());
    if (found->what == category::activations && held_by_program(about)) {
      found->until_backward = about.block.saved.backwards_ended + passes_of_an_attribute(about);
    }
    return *found;
  }
  classification unknown;
  unknown.guess = !was_there;
  return unknown;
}

classification at_moment(const classification& found, std::uint32_t backwards_ended) {
  if (backwards_ended <= found.until_backward) return found;
  classification later = found;
  later.what = category::outputs;
  later.how = evidence::inferred;
  later.rule = kept_by_program;
  return later;
}

}  // namespace memtrace::attribution
