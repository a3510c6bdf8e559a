// SPDX-License-Identifier: Apache-2.0
//
// Values that several documents share. What is not known is null.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/code/frames.h"

namespace memtrace::as_json {

using json = nlohmann::ordered_json;

template <class Value>
[[nodiscard]] json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}
[[nodiscard]] json text_or_null(const std::string& text);  // empty: null
// As a document is written: a line for each value. What is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string written(const json& document);
// Innermost first.
[[nodiscard]] json frames_json(const std::vector<code::source_frame>& frames);

}  // namespace memtrace::as_json
