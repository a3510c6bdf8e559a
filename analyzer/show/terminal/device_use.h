// SPDX-License-Identifier: Apache-2.0
//
// Who holds the device: one moment's parts, in words.
#pragma once

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

// When most of the device was in use, and by whom; up to 3 lines. Without samples, what is known to
// lie outside of PyTorch's pool.
void add_device_use(text::page& out, const run::device_report& device);

}  // namespace memtrace::terminal
