// SPDX-License-Identifier: Apache-2.0
//
// The work of autograd's engine in the calling thread.
//
//   calling thread:   Engine::execute ── waits ─────────────────────────────► result
//   device's thread:        evaluate_function(node), evaluate_function(node), …
//                              └ a node may call execute itself (checkpointing): they nest
//
// Whether a pass is running is known only where both calls come through our hooks. A pass of the
// program is what shows it: one of our own would start the engine's threads, after which PyTorch
// refuses backward in forked children. What shows the contrary, a node without an execute or an
// allocation of the engine's own threads without one, refuses capability::autograd.
//
// Marks are objects on the stack of the intercepted call: an exception that passes takes them away.
#pragma once

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/autograd/place_ring.h"

namespace memtrace::autograd {

class running_node;

namespace detail {

struct engine_state {
  running_node* innermost = nullptr;
  unsigned execute_depth = 0;
  bool belongs_to_engine = false;  // one of its own threads
  bool is_asked = false;
};
extern thread_local constinit engine_state engine __attribute__((tls_model("initial-exec")));

void see_allocation() noexcept;

}  // namespace detail

// The calling thread allocates GPU memory.
inline void see_allocation() noexcept {
  if (!detail::engine.is_asked || detail::engine.belongs_to_engine) [[unlikely]]
    detail::see_allocation();
}

// A call of Engine::execute, recorded as a phase.
class [[nodiscard]] backward_mark {
 public:
  backward_mark() noexcept;
  ~backward_mark();
  backward_mark(const backward_mark&) = delete;
  backward_mark& operator=(const backward_mark&) = delete;

 private:
  const int exceptions_;  // that pass through this thread already
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
  [[nodiscard]] static running_node* current() noexcept { return detail::engine.innermost; }

  // How many of them there are in the calling thread, one within another.
  [[nodiscard]] static unsigned depth() noexcept;

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

// A pass was seen through both hooks, and none without them: running_backwards() can be believed.
[[nodiscard]] bool backwards_are_seen() noexcept;
// How many calls of Engine::execute there are in all threads, and not less than the nodes that run:
// a pass that failed in one thread may still have a node running in another.
[[nodiscard]] unsigned running_backwards() noexcept;
// Those of the parent's other threads are not there.
void in_forked_child() noexcept;

// The thread is one of the engine's own, or waits for the engine.
[[nodiscard]] inline bool is_in_backward() noexcept {
  const detail::engine_state& here = detail::engine;
  return here.execute_depth > 0 || here.belongs_to_engine || here.innermost != nullptr;
}
// It is one of the engine's own: what runs in it, its Python frames included, is part of backward.
[[nodiscard]] inline bool is_engines_thread() noexcept {
  const detail::engine_state& here = detail::engine;
  return here.belongs_to_engine || (here.innermost != nullptr && here.execute_depth == 0);
}

}  // namespace memtrace::autograd
