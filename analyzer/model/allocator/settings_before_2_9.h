// SPDX-License-Identifier: Apache-2.0
//
// As PyTorch 2.0 to 2.8 reads a configuration. From its sources, whose release is known only
// roughly; not checked against a running one: tests/answers/allocator has PyTorch 2.11 only.
#pragma once

#include <string_view>

#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/allocator/torch_release.h"

namespace memtrace::allocator {

// Throws `refused`.
void read_before_2_9(std::string_view text, torch_release version, settings& into);

}  // namespace memtrace::allocator
