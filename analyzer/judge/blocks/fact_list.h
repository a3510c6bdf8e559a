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

#include "analyzer/model/allocator/index_iterator.h"
#include "analyzer/model/attribution/terms.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::blocks {

// The facts that attribution has about one block.

inline constexpr std::uint32_t never = 0xffffffffu;
inline constexpr std::uint8_t held_whole = 255;

// One block, by its block_number. 64 bytes: see fact_list below.
struct block_facts {
  attribution::category what = attribution::category::unknown;
  attribution::phase born_in = attribution::phase::other;
  bool evaluation = false;         // made while or after a model ran without gradients, and
                                   // before training went on
  bool recomputed = false;         // by checkpointing, in backward
  bool kept_by_autograd = false;   // saved for a backward pass
  bool attention_scores = false;   // quadratic in the sequence length
  bool cast_copy = false;          // autocast's copy of a parameter
  bool seen_by_optimizer = false;  // a gradient of a parameter that an optimizer has
  bool in_optimizer = false;       // when memory ran out: a parameter, or what else is trained
  bool is_state = false;           // an optimizer alone has it, at the same time
  bool in_no_optimizer = false;    // a parameter that wants a gradient, at the same time
  bool freed_in_backward = false;  // by a thread that ran a backward pass
  bool unused_copy = false;        // a parameter of a model that no forward pass uses
  // Bytes of views that a heap scan found to be all that holds it, of 256 of its own, rounded up; 0: no
  // scan has seen it, held_whole: by more than views.
  std::uint8_t view_share = 0;
  // At the same time: of the optimizer that has it, as estimate::optimizers() lists them, from 1; 0: not
  // known.
  std::uint8_t trainer = 0;
  std::uint8_t element_bits = 0;  // of a tensor kept by autograd or a parameter; 0: not known
  std::uint8_t dimensions = 0;    // of the tensor that autograd kept first; 0: not known
  std::uint32_t rows = 0;         // its last dimension but one
  std::uint32_t columns = 0;      // its last dimension
  std::uint32_t first = 0;  // first of two or more dimensions, when memory ran out; 0: not known
  std::uint32_t call = 0;   // of a root module, in which it was born; 0: none
  // Steps are counted by the step_ends that are past: 0 is up to the first end. Without any: never.
  std::uint32_t generation = never;
  std::uint32_t death_step = never;    // never: alive at the end
  std::uint32_t free_request = never;  // index in request_log::requests; never: alive at the end
  trace::object_id module;  // innermost at birth; in backward, whose gradient is computed
  trace::object_id root;
  trace::object_id optimizer;  // of a gradient: that looked at it, as far as that was recorded
  trace::stack_id stack;       // of its allocation
  trace::stack_id forward;     // made in backward: the forward call whose gradient is computed
  trace::text_id node;         // made in backward: the autograd node, such as MmBackward0
  trace::text_id name;         // of a parameter, for its weights, gradient and states
  trace::text_id detail;       // dtype, or key of an optimizer state
  trace::text_id viewed_by;    // with view_share: the path to the views
  [[nodiscard]] bool operator==(const block_facts&) const = default;
};

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
    own_[block].generation = birth;
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
    std::uint32_t generation = never;
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
