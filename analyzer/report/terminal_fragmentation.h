// SPDX-License-Identifier: Apache-2.0
//
// Why more is reserved than allocated, for a person at a terminal.
#pragma once

#include <cstddef>

#include "analyzer/report/model.h"
#include "analyzer/report/page.h"

namespace memtrace::report {

// Only where it matters: what is wasted, why, and who keeps it. At most `room` lines of about
// `columns` characters; 5 at most.
void add_fragmentation(page& out, const process_report& process, const device_report& device,
                       std::size_t room, std::size_t columns);

// All figures of a device.
void add_fragmentation_in_full(page& out, const process_report& process,
                               const device_report& device);

}  // namespace memtrace::report
