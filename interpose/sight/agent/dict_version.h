// SPDX-License-Identifier: Apache-2.0
//
// A number that CPython 3.9 to 3.12 gives to a dictionary anew whenever it changes, no number
// twice: what a dictionary holds is the same as long as it has the same one. Later versions have
// none. Needs the GIL.
#pragma once

#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// 0 where there are none, or where a dictionary of our own does not get new ones as it should.
[[nodiscard]] std::uint64_t version_of(py dictionary);

}  // namespace memtrace::agent
