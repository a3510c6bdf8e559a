// SPDX-License-Identifier: Apache-2.0
//
// Ranges and marks of programs that use NVTX, recorded as phases. Not those of NVIDIA's own
// libraries, which say nothing about the program. An NVTX call never begins a recording.
#pragma once

namespace memtrace::nvtx {

// Once, when the library is loaded: names it as the process's NVTX tool, unless there is another
// or MEMTRACE_NVTX is 0. Costs nothing until something calls NVTX.
void offer() noexcept;

}  // namespace memtrace::nvtx
