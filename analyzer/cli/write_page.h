// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace memtrace::cli {

// Before the work: whether a page, or an export, can be written there. False, after one sentence on
// stderr: there is something already, and `force` was not given.
[[nodiscard]] bool may_write(const std::string& path, bool force);

// The whole file or nothing; "-": to standard output. False, after one sentence on stderr, where
// that fails.
[[nodiscard]] bool write_page(const std::string& path, const std::string& page);

}  // namespace memtrace::cli
