// SPDX-License-Identifier: Apache-2.0
//
// The parts of the terminal report that tell of one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

// Capacity, peaks, what is reserved but unused and why, what lies outside PyTorch. Up to 6 lines.
void add_device(text::page& out, const run::process_report& process,
                const run::device_report& device);

// What was asked for, where the memory was, and what of it was free. Up to 4 lines.
void add_oom(text::page& out, const run::process_report& process, const run::oom_report& oom);

}  // namespace memtrace::terminal
