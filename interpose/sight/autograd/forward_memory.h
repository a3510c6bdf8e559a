// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::autograd {

// The calling thread makes a node of the autograd graph, with this sequence number: remembers
// where, for when its gradient is computed. Some 100 ns, nearly all of it the Python stack.
void remember_forward(recorder& to, std::uint64_t number) noexcept;

}  // namespace memtrace::autograd
