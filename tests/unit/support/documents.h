// SPDX-License-Identifier: Apache-2.0
//
// Where a test finds the pages of docs/. ctest names the folder in MEMTRACE_DOCS: a path that were compiled in
// would differ from clone to clone, and the compiler's cache would serve only one of them.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace memtrace::tests {

// Without ctest: as seen from the top of the repository.
[[nodiscard]] inline std::string document(std::string_view name) {
  const char* folder = std::getenv("MEMTRACE_DOCS");
  return std::string(folder != nullptr ? folder : "docs") + "/" + std::string(name);
}

}  // namespace memtrace::tests
