// SPDX-License-Identifier: Apache-2.0
//
// Why more is reserved than allocated, for a person at a terminal.
#pragma once

#include <cstddef>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

// Only where it matters: what is wasted, why, and who keeps it. At most `room` lines of about
// `columns` characters; 5 at most.
void add_fragmentation(text::page& out, const run::process_report& process,
                       const run::device_report& device, std::size_t room, std::size_t columns);

// All figures of a device.
void add_fragmentation_in_full(text::page& out, const run::process_report& process,
                               const run::device_report& device);

}  // namespace memtrace::terminal
