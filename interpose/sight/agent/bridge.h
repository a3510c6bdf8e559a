// SPDX-License-Identifier: Apache-2.0
//
// The functions that agent.py calls, as Python objects. They swallow C++ exceptions of their own,
// and leave no Python error set.
#pragma once

#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// Puts them into the globals of agent.py. False when there was no memory.
[[nodiscard]] bool put_bridge(py globals);

}  // namespace memtrace::agent
