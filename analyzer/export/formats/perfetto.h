// SPDX-License-Identifier: Apache-2.0
//
// A Perfetto trace: each process with its steps, its devices' memory over time as counters, what
// ran (phases, modules, ranges of the program), and its largest blocks one by one.
//
//   rank 0 (train.py, pid 4242)
//     steps
//     phases of thread MainThread          ranges that the program named
//     cuda:0 NVIDIA GeForce RTX 3090
//       allocated, reserved, in use        one axis
//       weights, gradients, …              one axis; they sum to allocated
//       phases, modules                    as the allocations show them
//       events                             out of memory, emptied caches, the peaks
//       largest blocks                     an instant for the allocation, with its call stack, and
//       a
//                                          flow to the one for its release
//     host memory, and what the program counts
#pragma once

#include <memory>

#include "analyzer/export/formats/destination.h"
#include "analyzer/export/formats/formats.h"

namespace memtrace::exporting {

[[nodiscard]] std::unique_ptr<sink> make_perfetto(destination& to, const options& wanted);

}  // namespace memtrace::exporting
