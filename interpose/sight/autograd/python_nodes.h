// SPDX-License-Identifier: Apache-2.0
//
// Nodes of the autograd graph that a custom Function of Python made. Each knows the Function's
// context, an object of the Function's class, on which forward may leave tensors as plain
// attributes, beside save_for_backward:
//
//   ctx.save_for_backward(x)   a SavedVariable, see tensor_hooks.cpp
//   ctx.x = x                  what the reader here is for
//
//   node (up to PyTorch 2.14)   what every node has, context
//   node (2.15)                 what every node has, the context among it
//
// Where it stands is learnt from nodes that are about to run: PyTorch itself needs the context
// next. While one runs its context may go (compiled backward passes of PyTorch 2.15).
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/autograd/readable_memory.h"

namespace memtrace::autograd {

// Whether the node's class, by the last part of its name in C++, is that of all custom Functions.
[[nodiscard]] bool is_python_node(std::string_view class_name) noexcept;

// The word at the place of contexts, in such a node or a copy of what every node has and the word
// behind. Nothing of it has been looked at.
[[nodiscard]] std::uint64_t context_in(const void* node) noexcept;

// The class of what stands there; 0: it is no context. Asks the kernel.
[[nodiscard]] std::uint64_t class_of_context(const void* node,
                                             const readable_memory& memory) noexcept;

// Is called before such a node runs, in the engine's thread, without the GIL, with its context. It
// may end the thread by unwinding it (PyGILState_Ensure).
using context_reader = void (*)(recorder& to, std::uint64_t context);
void read_contexts_with(context_reader reader) noexcept;

void before_node(const void* node);

}  // namespace memtrace::autograd
