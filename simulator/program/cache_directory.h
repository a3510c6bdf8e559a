// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "result.h"

namespace memtrace::simulator {

// A folder that this user owns and nobody else may write: `wanted`, or if that is empty the first
// that works of $XDG_CACHE_HOME/memtrace, ~/.cache/memtrace and $TMPDIR/memtrace-UID.
[[nodiscard]] result<std::filesystem::path> open_cache_directory(
    const std::filesystem::path& wanted);

}  // namespace memtrace::simulator
