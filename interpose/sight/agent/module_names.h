// SPDX-License-Identifier: Apache-2.0
//
// Records what agent.py found by walking a root module: its modules' names, and the storages of
// their parameters and buffers. Needs the GIL.
#pragma once

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// `modules` is a flat list of (module, path, type, flags), `tensors` one of (tensor, the parameter
// or buffer that it belongs to, role, name, detail or None).
void record_root(recorder& to, py root, py modules, py tensors);

}  // namespace memtrace::agent
