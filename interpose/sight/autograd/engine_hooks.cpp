// SPDX-License-Identifier: Apache-2.0
//
// torch::autograd::Engine and the numbering of its nodes. References and objects that are returned
// by value are pointers here, as the ABI passes them.
#include <cstdint>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/autograd/is_allowed.h"
#include "interpose/sight/autograd/node_names.h"
#include "interpose/sight/autograd/python_nodes.h"
#include "interpose/sight/autograd/real_behind.h"
#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/autograd/tensor_records.h"
#include "interpose/sight/autograd/thread_memory.h"
#include "interpose/sight/autograd/torch_functions.h"
#include "interpose/sight/autograd/torch_symbols.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::autograd {
namespace {

// The memory of a thread that PyTorch has numbered; null without memory for it.
thread_memory* numbered_memory() noexcept {
  thread_memory* const memory = this_threads_memory();
  if (memory == nullptr) return nullptr;
  if (memory->thread == 0) [[unlikely]] {
    const torch_functions* const torch = find_torch_functions();
    if (torch == nullptr || torch->thread_id == nullptr) return nullptr;
    memory->thread = torch->thread_id();
  }
  if (memory->places == nullptr) [[unlikely]]
    memory->places = forward_places::take(memory->thread);
  return memory->places == nullptr ? nullptr : memory;
}

// Backward of backward: what a node of the first makes belongs to that node's forward call.
void inherit(recorder& to, forward_place& place) noexcept {
  running_node* const running = running_node::current();
  if (running == nullptr) return;
  const forward_place& outer = running->place(to);
  if (place.module == 0) {
    place.module = outer.module;
    place.root = outer.root;
  }
  if (place.stack == 0) place.stack = outer.stack;
}

// The calling thread makes a node of the autograd graph, with this sequence number: remembers
// where, for when its gradient is computed. Some 100 ns, nearly all of it the Python stack.
void remember_forward(recorder& to, std::uint64_t number) noexcept {
  thread_memory* const memory = numbered_memory();
  if (memory == nullptr) return;
  const python_stack::captured here = python_stack::capture_place(to);
  forward_place place{
      .module = here.module, .root = here.root, .stack = here.stack, .generation = to.generation()};
  inherit(to, place);
  if (place.stack == 0 && place.module == 0) return;
  forward_places::remember(*memory->places, memory->thread, number, place);
}

}  // namespace
}  // namespace memtrace::autograd

namespace {

namespace autograd = memtrace::autograd;
namespace session = memtrace::session;
using memtrace::hook_id;

void after_node(const void* node) noexcept {
  const memtrace::errno_keeper errno_stays;
  memtrace::recorder* const to = session::active();
  if (to == nullptr || !autograd::is_confirmed() || !autograd::is_accumulate_grad(node)) return;
  autograd::record_accumulated(*to, autograd::accumulated(node));
}

}  // namespace

// PyTorch's engine runs one backward pass: the result is a vector, whose place comes first.
MEMTRACE_EXPORTED void* AUTOGRAD_EXECUTE(void* result, void* engine, const void* roots,
                                         const void* inputs, bool keep_graph, bool create_graph,
                                         bool accumulate, const void* outputs) {
  auto* const real = autograd::real_behind<decltype(AUTOGRAD_EXECUTE)>(hook_id::AUTOGRAD_EXECUTE,
                                                                       __builtin_return_address(0));
  if (!autograd::is_allowed())
    return real(result, engine, roots, inputs, keep_graph, create_graph, accumulate, outputs);
  const autograd::backward_mark mark;
  return real(result, engine, roots, inputs, keep_graph, create_graph, accumulate, outputs);
}

MEMTRACE_EXPORTED void AUTOGRAD_EVALUATE(void* engine, void* task, void* node, void* inputs,
                                         const void* queue) {
  auto* const real = autograd::real_behind<decltype(AUTOGRAD_EVALUATE)>(
      hook_id::AUTOGRAD_EVALUATE, __builtin_return_address(0));
  if (!autograd::is_allowed()) return real(engine, task, node, inputs, queue);
  {
    const autograd::running_node running(node);
    autograd::before_node(node);
    real(engine, task, node, inputs, queue);
  }
  after_node(node);
}

MEMTRACE_EXPORTED std::uint64_t AUTOGRAD_SEQUENCE() {
  auto* const real = autograd::real_behind<decltype(AUTOGRAD_SEQUENCE)>(
      hook_id::AUTOGRAD_SEQUENCE, __builtin_return_address(0));
  const std::uint64_t number = real();
  if (memtrace::recorder* const to = session::active(); to != nullptr && autograd::is_allowed()) {
    const memtrace::errno_keeper errno_stays;
    autograd::remember_forward(*to, number);
  }
  return number;
}
