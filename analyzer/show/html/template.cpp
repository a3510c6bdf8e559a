// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/html/template.h"

#include <algorithm>
#include <cstddef>

extern "C" {
extern const char memtrace_page_begin[];
extern const char memtrace_page_end[];
}

namespace memtrace::html {

std::string escaped_text(std::string_view text) {
  std::string made;
  for (const char letter : text) {
    switch (letter) {
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      case '&':
        made += "&amp;";
        break;
      case '"':
        made += "&quot;";
        break;
      default:
        made += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  }
  return made;
}

std::string escaped_json(std::string_view document) {
  constexpr std::string_view separators = "\xe2\x80";  // U+2028 and U+2029 begin so
  std::string made;
  made.reserve(document.size() + document.size() / 16);
  for (std::size_t i = 0; i < document.size(); ++i) {
    const char letter = document[i];
    if (letter == '<') {
      made += "\\u003c";
    } else if (letter == '>') {
      made += "\\u003e";
    } else if (letter == '&') {
      made += "\\u0026";
    } else if (document.substr(i, 2) == separators && i + 2 < document.size() &&
               (document[i + 2] == '\xa8' || document[i + 2] == '\xa9')) {
      made += document[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      made += letter;
    }
  }
  return made;
}

std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string>>& tokens) {
  // In the order of the page, so that what was filled in is not searched.
  std::vector<std::pair<std::size_t, const std::pair<std::string_view, std::string>*>> places;
  for (const auto& token : tokens) {
    const auto found = page.find(token.first);
    if (found != std::string_view::npos) places.emplace_back(found, &token);
  }
  std::ranges::sort(places);
  std::string made;
  std::size_t from = 0;
  for (const auto& [place, token] : places) {
    made += page.substr(from, place - from);
    made += token->second;
    from = place + token->first.size();
  }
  made += page.substr(from);
  return made;
}

std::string_view page_template() {
  return {memtrace_page_begin, static_cast<std::size_t>(memtrace_page_end - memtrace_page_begin)};
}

}  // namespace memtrace::html
