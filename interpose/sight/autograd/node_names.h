// SPDX-License-Identifier: Apache-2.0
//
// The name of a node of the autograd graph: the last part of its C++ class's name, as in
// MmBackward0, for Python's custom functions their class's name.
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::autograd {

// The text of a node's name in the trace; 0 when it cannot be told.
[[nodiscard]] std::uint32_t node_name(recorder& to, const void* node) noexcept;

[[nodiscard]] bool is_accumulate_grad(const void* node) noexcept;

}  // namespace memtrace::autograd
