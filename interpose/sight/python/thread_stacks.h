// SPDX-License-Identifier: Apache-2.0
//
// Finds the number of a thread's present stack. What the stack was the last time is kept with the
// addresses of its frames, so that only what differs is looked up:
//
//   last:  [outermost] f0 f1 f2 f3 f4 f5 [innermost]
//   now:                f0 f1 f2 f3 g4 g5 g6
//   walk from g6 outwards until a frame of `last` is met (f3), compare all below it with what is
//   in memory now, then look up g4, g5, g6 in the tree from f3's node.
//
// The comparison reads frames at addresses from `last`, not from the pointer just loaded, after
// comparing the two: so the processor reads many frames at once instead of following a chain.
//
// Each frame of `last` also knows which frames at or outside it are the innermost and the outermost
// call of a module; which modules these are is read from the frames anew each time, because a loop
// over layers calls one after another from the same frame, at the same instruction.
#pragma once

#include <array>

#include "interpose/sight/python/frame_decoder.h"
#include "interpose/sight/python/module_call.h"
#include "interpose/sight/python/python_stack.h"
#include "interpose/sight/python/stack_tree.h"

namespace memtrace::python_stack {

class thread_stacks {
 public:
  struct answer {
    captured place;
    bool misread = false;  // a frame was not what it must be
  };

  // The stack whose innermost frame this is (0: none), at most `depth` frames of it, and the
  // modules that run on it. Without `trust_addresses` nothing that was learnt in earlier calls is
  // used.
  [[nodiscard]] answer find(const interpreter& python, address innermost, unsigned depth,
                            bool trust_addresses, stack_table& table) noexcept;

 private:
  struct met_frame {
    address frame;
    frame_key key;
  };
  // The content of last_ as it stands in memory: compared at every event. Facts that
  // are needed of the innermost frame only stand apart.
  struct kept_frame {
    address frame;
    address code;
    std::uint64_t instruction;
    std::uint64_t owner;

    [[nodiscard]] frame_key key() const noexcept { return {code | owner << 56, instruction}; }
  };
  struct frame_facts {
    node_number node;
    // How many of last_ there are up to the module call, from the outermost on; 0: none.
    std::uint16_t inner_call;
    std::uint16_t outer_call;
    std::uint16_t steps;  // how many calls of Optimizer.step there are up to this frame
  };

  enum class look_up_result : std::uint8_t { found, misread, no_room };

  void forget_what_is_stale(bool trust_addresses, const stack_table& table) noexcept;
  void forget_dead(std::uint32_t now) noexcept;
  void forget_everything() noexcept;
  template <bool by_address>
  [[nodiscard]] unsigned unchanged_down_to(const layout& offsets, unsigned from) const noexcept;
  [[nodiscard]] unsigned unchanged_down_to(const layout& offsets, unsigned from) const noexcept;
  [[nodiscard]] bool is_as_before(const layout& offsets, address innermost) noexcept;
  [[nodiscard]] answer answer_of_last(const interpreter& python, stack_table& table) noexcept;
  [[nodiscard]] bool add_inner(address frame, frame_key key, unsigned depth) noexcept;
  void walk(const layout& offsets, address innermost, unsigned depth) noexcept;
  [[nodiscard]] look_up_result look_up(const interpreter& python) noexcept;
  void append(met_frame met, node_number node) noexcept;
  [[nodiscard]] address module_at(const layout& offsets, unsigned call) const noexcept;
  [[nodiscard]] stack_id number_of(const interpreter& python, node_number innermost,
                                   stack_table& table) noexcept;

  [[nodiscard]] std::uint16_t& place_of_frame(address frame) noexcept {
    return places_[(frame >> 4) * 0x9e3779b97f4a7c15u >> 56];
  }

  std::array<kept_frame, max_depth> last_;    // outermost first
  std::array<frame_facts, max_depth> facts_;  // of last_
  unsigned last_count_ = 0;
  std::array<met_frame, max_depth> inner_;  // this walk's, innermost first
  unsigned inner_count_ = 0;
  unsigned common_ = 0;                      // how many of last_ hold now
  bool cut_ = false;                         // frames were left out
  std::array<std::uint16_t, 256> places_{};  // frame address ─► where it may be in last_
  stack_tree tree_;
  module_call watched_;
  address step_call_ = 0;
  std::uint32_t deaths_seen_ = 0;
  std::uint32_t generation_ = 0;
  bool trusted_ = false;  // what is kept was learnt while deaths were watched
  text_arena texts_;
  std::array<stack_frame, max_depth + 1> frames_;
};

}  // namespace memtrace::python_stack
