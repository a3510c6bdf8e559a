// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/forward_memory.h"

#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/autograd/thread_memory.h"
#include "interpose/sight/autograd/torch_functions.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::autograd {
namespace {

// Of a thread that PyTorch has numbered; null without memory for it.
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

}  // namespace

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

}  // namespace memtrace::autograd
