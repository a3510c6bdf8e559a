// SPDX-License-Identifier: Apache-2.0
//
// Copy on read: a forked DataLoader worker shares the parent's memory until either writes to it;
// and reading a Python object writes to it, because its reference count changes. So the workers'
// proportional memory grows though nobody keeps anything, until each has its own copy of what it
// reads. What tells it from a leak: what is resident in the workers stays the same, only that less
// and less of it is shared.
#pragma once

#include "analyzer/judge/host/samples.h"
#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::host {

// If the workers' memory grew like that: says so in the verdict, and that it ends. False: it did
// not.
bool tell_copies(verdicts::verdict& workers, const host_samples& samples);

}  // namespace memtrace::host
