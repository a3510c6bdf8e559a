// SPDX-License-Identifier: Apache-2.0
//
// The facts of many blocks. Most blocks are like others, made by the same line in every step: what
// they have in common is kept once, so that a block takes 20 bytes instead of 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/judge/blocks/block_facts.h"
#include "analyzer/model/allocator/index_iterator.h"

namespace memtrace::blocks {

class fact_list {
 public:
  using const_iterator = allocator::index_iterator<fact_list, block_facts>;

  fact_list() = default;
  explicit fact_list(const std::vector<block_facts>& all) {
    for (const auto& one : all) push_back(one);
  }

  [[nodiscard]] std::size_t size() const { return own_.size(); }
  [[nodiscard]] bool empty() const { return own_.empty(); }
  // Put together anew; constant, since what is changed in it would be lost.
  [[nodiscard]] const block_facts operator[](std::size_t block) const;
  [[nodiscard]] const_iterator begin() const { return {*this, 0}; }
  [[nodiscard]] const_iterator end() const { return {*this, size()}; }

  void push_back(const block_facts& facts);
  void resize(std::size_t count) { own_.resize(count, own_part{kind_of({})}); }
  void set(std::size_t block, const block_facts& facts);
  void set_free_request(std::size_t block, std::uint32_t request) {
    own_[block].free_request = request;
  }
  void set_steps(std::size_t block, std::uint32_t birth, std::uint32_t death) {
    own_[block].birth_step = birth;
    own_[block].death_step = death;
  }
  template <class Change>
  void change(std::size_t block, Change&& how) {
    auto facts = block_facts((*this)[block]);
    how(facts);
    set(block, facts);
  }
  // The same change to all blocks that are alike, by what they have in common.
  template <class Change>
  void change_all(Change&& how) {
    for (auto& kind : kinds_) how(kind);
    numbers_.clear();
    for (std::uint32_t i = 0; i < kinds_.size(); ++i) numbers_.emplace(kinds_[i], i);
  }

 private:
  struct own_part {
    std::uint32_t kind = 0;
    std::uint32_t call = 0;
    std::uint32_t birth_step = never;
    std::uint32_t death_step = never;
    std::uint32_t free_request = never;
  };
  struct hash {
    [[nodiscard]] std::size_t operator()(const block_facts& facts) const;
  };

  [[nodiscard]] std::uint32_t kind_of(const block_facts& facts);

  std::vector<block_facts> kinds_;                                // without what is a block's own
  std::unordered_map<block_facts, std::uint32_t, hash> numbers_;  // of kinds_
  std::vector<own_part> own_;
};

}  // namespace memtrace::blocks
