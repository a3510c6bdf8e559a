// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/fact_list.h"

namespace memtrace::blocks {

const block_facts fact_list::operator[](std::size_t block) const {
  const auto& own = own_[block];
  auto facts = kinds_[own.kind];
  facts.call = own.call;
  facts.generation = own.generation;
  facts.death_step = own.death_step;
  facts.free_request = own.free_request;
  return facts;
}

void fact_list::push_back(const block_facts& facts) {
  own_.emplace_back();
  set(own_.size() - 1, facts);
}

void fact_list::set(std::size_t block, const block_facts& facts) {
  own_[block] = {kind_of(facts), facts.call, facts.generation, facts.death_step,
                 facts.free_request};
}

std::uint32_t fact_list::kind_of(const block_facts& facts) {
  auto common = facts;
  common.call = 0;
  common.generation = common.death_step = common.free_request = never;
  const auto [found, is_new] =
      numbers_.try_emplace(common, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(common);
  return found->second;
}

std::size_t fact_list::hash::operator()(const block_facts& facts) const {
  // Those that tell most apart; equality looks at all.
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  std::uint64_t mixed = static_cast<std::uint64_t>(facts.what);
  for (const auto part : {facts.stack.value, facts.module.value, facts.forward.value,
                          facts.name.value, facts.rows, facts.columns}) {
    mixed = (mixed ^ part) * odd;
    mixed ^= mixed >> 32;
  }
  return static_cast<std::size_t>(mixed);
}

}  // namespace memtrace::blocks
