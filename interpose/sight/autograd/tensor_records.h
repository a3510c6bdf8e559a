// SPDX-License-Identifier: Apache-2.0
//
// Records of autograd's tensors on the GPU. Arguments are TensorImpls; tensors
// without memory on a GPU are passed over. Without confirmed layout nothing is recorded.
#pragma once

#include <cstdint>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::autograd {

// `flags`: saved_output and saved_packed; the others are the tensor's own.
void record_saved(recorder& to, const void* tensor, std::uint32_t flags) noexcept;

// A leaf and its gradient, after the gradient was accumulated.
void record_accumulated(recorder& to, const void* leaf) noexcept;

// Autocast made `copy` of the leaf tensor `source`.
void record_cast(recorder& to, const void* source, const void* copy) noexcept;

}  // namespace memtrace::autograd
