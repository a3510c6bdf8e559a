// SPDX-License-Identifier: Apache-2.0
//
// The functions that agent.py calls, as Python objects. They swallow C++ exceptions of their own,
// and leave no Python error set. All of it needs the GIL.
#pragma once

#include <string_view>

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// Puts them into the globals of agent.py. False when there was no memory.
[[nodiscard]] bool put_bridge(py globals);

// Optimizer steps, as PyTorch's global hooks report them (optimizer_steps.cpp).

// Before the step. True when parameters are other ones, or elsewhere, than at its last step: then
// the models are to be looked at, and record_nameless() called, before gradients are recorded.
[[nodiscard]] bool begin_step(recorder& to, py optimizer, std::string_view type, py groups);
// Parameters that belong to no module that was met.
void record_nameless(recorder& to, py optimizer, py groups);
void record_gradients(recorder& to, py optimizer, py groups);

// After the step; `state` is the optimizer's.
void end_step(recorder& to, py optimizer, std::string_view type, py groups, py state);

// Tensors that custom Functions keep as attributes of their context (function_contexts.cpp): seen
// from now on, for the rest of the process. Objects must have been found to be laid out as
// heap_scan/python_types.h says.
void watch_function_contexts() noexcept;

}  // namespace memtrace::agent
