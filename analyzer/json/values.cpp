// SPDX-License-Identifier: Apache-2.0
#include "analyzer/json/values.h"

namespace memtrace::as_json {

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json frames_json(const std::vector<code::source_frame>& frames) {
  auto list = json::array();
  for (const auto& frame : frames) {
    list.push_back({{"file", frame.file},
                    {"line", frame.line},
                    {"function", frame.function},
                    {"user", frame.user}});
  }
  return list;
}

}  // namespace memtrace::as_json
