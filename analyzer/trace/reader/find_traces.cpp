// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/find_traces.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace memtrace::trace {

namespace fs = std::filesystem;

std::vector<std::string> traces_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".mtrace") found.push_back(entry->path().string());
  }
  std::ranges::sort(found);
  return found;
}

result<std::vector<std::string>> find_traces(const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const auto& name : names) {
    std::error_code failed;
    if (!fs::is_directory(name, failed)) {
      found.push_back(name);
      continue;
    }
    const auto inside = traces_in(name);
    if (inside.empty()) {
      return error{
          error_code::not_found, 0,
          fmt::format("{}: no traces in this directory; record one with memtrace run", name)};
    }
    found.insert(found.end(), inside.begin(), inside.end());
  }
  return found;
}

}  // namespace memtrace::trace
