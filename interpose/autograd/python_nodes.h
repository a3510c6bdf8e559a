// SPDX-License-Identifier: Apache-2.0
//
// Nodes of the autograd graph that a custom Function of Python made. Each holds the Function's
// context, on which forward may leave tensors as plain attributes, beside save_for_backward:
//
//   ctx.save_for_backward(x)   a SavedVariable, see tensor_hooks.cpp
//   ctx.x = x                  what the reader here is for
//
// While a node runs its object may go, as in backward passes that torch.compile made
// (PyTorch 2.15), and other versions of PyTorch may hold something else there: it is read with
// care, and where one such node has no object before it runs, none is looked at again.
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/autograd/readable_memory.h"
#include "interpose/recorder/recorder.h"

namespace memtrace::autograd {

// Whether the node's class, by the last part of its name in C++, is that of all custom Functions.
[[nodiscard]] bool is_python_node(std::string_view class_name) noexcept;
[[nodiscard]] bool is_python_node(const void* node) noexcept;

// Of what stands where the context should; 0: there is nothing.
[[nodiscard]] std::uint64_t type_of_context(const void* node,
                                            const readable_memory& memory) noexcept;
// Its own type is Python's `type`, or a class made from that.
[[nodiscard]] bool is_type(std::uint64_t type, const readable_memory& memory) noexcept;

// Is called before such a node runs, in the engine's thread, without the GIL, for an object of a
// type that something refers to. It may end the thread by unwinding it (PyGILState_Ensure).
struct python_context {
  std::uint64_t object;
  std::uint64_t type;
};
using context_reader = void (*)(recorder& to, const python_context& context);
void read_contexts_with(context_reader reader) noexcept;

void before_node(const void* node);

}  // namespace memtrace::autograd
