// SPDX-License-Identifier: Apache-2.0
//
// Who holds the device: one moment's parts, in words.
#pragma once

#include "analyzer/report/model.h"
#include "analyzer/report/page.h"

namespace memtrace::report {

// When most of the device was in use, and by whom; up to 3 lines. Without samples, what is known to
// lie outside of PyTorch's pool.
void add_device_use(page& out, const device_report& device);

}  // namespace memtrace::report
