// SPDX-License-Identifier: Apache-2.0
//
// Records what PyTorch's global optimizer hooks report: the phase, gradients that autograd did not
// tell of, the optimizer's states when they have changed, the step. Needs the GIL. Reads
// addresses only; nothing of the program is kept.
#pragma once

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// Before the step. True when parameters are other ones, or elsewhere, than at its last step: then
// the models are to be looked at, and record_nameless() called, before gradients are recorded.
[[nodiscard]] bool begin_step(recorder& to, py optimizer, std::string_view type, py groups);
// Parameters that belong to no module that was met.
void record_nameless(recorder& to, py optimizer, py groups);
void record_gradients(recorder& to, py optimizer, py groups);

// After the step; `state` is the optimizer's.
void end_step(recorder& to, py optimizer, std::string_view type, py groups, py state);

}  // namespace memtrace::agent
