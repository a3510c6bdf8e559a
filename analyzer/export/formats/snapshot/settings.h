// SPDX-License-Identifier: Apache-2.0
//
// The allocator's settings as PyTorch's snapshot has them.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/model/allocator/settings.h"

namespace memtrace::exporting {

// `text`: what the variable, or the latest change, said.
void put_settings(std::string& to, const allocator::settings& now, std::string_view text);

}  // namespace memtrace::exporting
