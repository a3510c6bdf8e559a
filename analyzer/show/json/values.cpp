// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/json/values.h"

namespace memtrace::as_json {

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

std::string written(const json& document) {
  return document.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
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
