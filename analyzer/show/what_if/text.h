// SPDX-License-Identifier: Apache-2.0
//
// What `memtrace replay` prints.
#pragma once

#include <string>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/show/what_if/runs.h"

namespace memtrace::what_if {

[[nodiscard]] std::string to_text(const std::vector<replayed_process>& processes,
                                  const text::style& style);

// The peak of reserved memory that a row stands for: of the recorded options on the recorded device
// the one that was there, of others that of the worst addresses.
[[nodiscard]] const allocator::outcome& representative(const replayed_device& device,
                                                       const replayed_option& option);

}  // namespace memtrace::what_if
