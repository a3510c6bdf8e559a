// SPDX-License-Identifier: Apache-2.0
//
// Tensors that custom Functions keep for backward as attributes of their context (ctx.x = x, also
// in a list, tuple or dict there), recorded as saved when the Function's backward is about to run:
//
//   LLM.int8 of bitsandbytes, fused kernels: ctx.tensors = (a, b)
//
// In a graph whose backward never runs they are not seen.
#pragma once

namespace memtrace::agent {

// From now on, for the rest of the process. Objects must have been found to be laid out as
// heap scan/python_types.h says.
void watch_function_contexts() noexcept;

}  // namespace memtrace::agent
