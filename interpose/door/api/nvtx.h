// SPDX-License-Identifier: Apache-2.0
//
// Ranges and marks of programs that use NVTX, recorded as phases. Not those of NVIDIA's own
// libraries, which say nothing about the program. An NVTX call never begins a recording.
#pragma once

namespace memtrace::nvtx {

// Once, when the library is loaded: it is the process's NVTX tool from then on, unless the
// environment names another or MEMTRACE_NVTX is 0. Costs nothing until something calls NVTX.
void offer() noexcept;

}  // namespace memtrace::nvtx
