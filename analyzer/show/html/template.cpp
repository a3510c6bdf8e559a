// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/html/template.h"

#include <cstddef>

extern "C" {
extern const char memtrace_page_begin[];
extern const char memtrace_page_end[];
}

namespace memtrace::html {

std::string_view page_template() {
  return {memtrace_page_begin, static_cast<std::size_t>(memtrace_page_end - memtrace_page_begin)};
}

}  // namespace memtrace::html
