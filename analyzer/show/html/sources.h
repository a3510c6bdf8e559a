// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "analyzer/trace/code/frames.h"

namespace memtrace::html {

// {FILE: {LINE: TEXT}} of the user's own files that are readable here: the lines of the frames and
// two around each.
[[nodiscard]] nlohmann::ordered_json sources_of(const std::vector<code::source_frame>& frames);

}  // namespace memtrace::html
