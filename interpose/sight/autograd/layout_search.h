// SPDX-License-Identifier: Apache-2.0
//
// Finds the offsets of tensor_layout.h from a probe.
#pragma once

#include "interpose/sight/autograd/tensor_layout.h"

namespace memtrace::autograd {

// Null when everything was found, else what was not, for info `autograd`. `thread` is what
// at::RecordFunction::currentThreadId() says in the thread that made the probe.
[[nodiscard]] const char* search_layout(const layout_probe& probe, std::uint64_t thread,
                                        detail::layout& found) noexcept;

}  // namespace memtrace::autograd
