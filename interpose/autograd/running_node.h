// SPDX-License-Identifier: Apache-2.0
//
// What autograd's engine does in the calling thread.
//
//   calling thread:   Engine::execute ── waits ─────────────────────────────► result
//   device's thread:        evaluate_function(node), evaluate_function(node), …
//                              └ a node may call execute itself (checkpointing): they nest
//
// Marks are objects on the stack of the intercepted call: an exception that passes takes them away.
#pragma once

#include "interpose/autograd/place_ring.h"
#include "interpose/recorder/recorder.h"

namespace memtrace::autograd {

// A call of Engine::execute, recorded as a phase.
class [[nodiscard]] backward_mark {
 public:
  backward_mark() noexcept;
  ~backward_mark();
  backward_mark(const backward_mark&) = delete;
  backward_mark& operator=(const backward_mark&) = delete;

 private:
  bool has_begun_ = false;
};

// A call of Engine::evaluate_function.
class [[nodiscard]] running_node {
 public:
  explicit running_node(const void* node) noexcept;
  ~running_node();
  running_node(const running_node&) = delete;
  running_node& operator=(const running_node&) = delete;

  // The innermost of the calling thread, or null.
  [[nodiscard]] static running_node* current() noexcept;

  [[nodiscard]] const void* node() const noexcept { return node_; }
  // Where the forward call was that made the node, as far as `to` knows; looked up once.
  [[nodiscard]] const forward_place& place(const recorder& to) noexcept;
  // Its name as a text of the trace.
  [[nodiscard]] std::uint32_t name(recorder& to) noexcept;

 private:
  const void* const node_;
  running_node* const outer_;
  bool is_looked_up_ = false;
  forward_place place_{};
  std::uint32_t name_ = 0;
  std::uint32_t name_generation_ = 0;
};

// How many calls of Engine::execute there are in all threads.
[[nodiscard]] unsigned running_backwards() noexcept;
// Those of the parent's other threads are not there.
void in_forked_child() noexcept;

// The thread is one of the engine's own, or waits for the engine.
[[nodiscard]] bool is_in_backward() noexcept;
// It is one of the engine's own: what runs in it, its Python frames included, is part of backward.
[[nodiscard]] bool is_engines_thread() noexcept;

}  // namespace memtrace::autograd
