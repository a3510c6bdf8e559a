// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

// Where objects of this one's class keep the attribute, of which `value` is the present one, if
// that is a slot (__slots__); else 0. Reading it there asks no code of Python's. Needs the GIL.
[[nodiscard]] std::ptrdiff_t slot_offset(py object, py name, py value);

}  // namespace memtrace::agent
