// SPDX-License-Identifier: Apache-2.0
#pragma once

// Before the definition of every function of the simulated API: found by name from outside, under
// an unversioned C symbol, which satisfies versioned references too.
#define MEMTRACE_API extern "C" __attribute__((visibility("default")))
