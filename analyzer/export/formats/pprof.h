// SPDX-License-Identifier: Apache-2.0
//
// A profile for pprof (profile.proto, gzip'ed), as a heap profile has it:
//
//   inuse_objects, inuse_space      who held each device at its peak; shown first
//   growth_objects, growth_space    what was allocated after the second step and is there at the
//                                   end of the last one
//   moment_objects, moment_space    who held it at --at, or where memory ran out
//   alloc_objects, alloc_space      everything that was allocated
//
// Labels say category, evidence, device, phase, module, name, step and process.
#pragma once

#include <memory>

#include "analyzer/export/formats/destination.h"
#include "analyzer/export/formats/formats.h"

namespace memtrace::exporting {

[[nodiscard]] std::unique_ptr<sink> make_pprof(destination& to, const options& wanted);

}  // namespace memtrace::exporting
