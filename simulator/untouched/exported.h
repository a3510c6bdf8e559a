// SPDX-License-Identifier: Apache-2.0
//
// Shared by all functions here that stand before PyTorch's: they are in every program on the
// simulated GPU, so that a program has the same addresses whether they do something or not, and
// only pass on what they are given where MEMTRACE_SIM_FAST_INIT is not 1.
#pragma once

// Under the mangled name of PyTorch's.
#define MEMTRACE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace memtrace::simulator::untouched {

// As the environment was when the library was loaded.
extern const bool is_on;

}  // namespace memtrace::simulator::untouched
