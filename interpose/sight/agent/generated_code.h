// SPDX-License-Identifier: Apache-2.0
//
// Writes what compiled_code.py found out of a file of generated code into the trace. Needs the GIL.
#pragma once

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// `rows`: a list of line, flags (format::generated_further), frames, address of the module (0: that
// of the owner), operator, and again; frames: a tuple of file, line, function, …, outermost first.
// `owner`: address of the module whose forward was compiled; 0: not known.
void record_generated(recorder& to, std::string_view file, std::uint64_t owner, std::uint32_t flags,
                      py rows);

}  // namespace memtrace::agent
