// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/io/write_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "analyzer/base/text/units.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/output_file.h"
#include "analyzer/cli/io/unfinished_file.h"
#include "analyzer/show/json/values.h"

namespace memtrace::cli {

namespace {

[[nodiscard]] bool complain(const std::string& path, const char* why) {
  if (errno != EPIPE) {
    log::error("{}: the report cannot be written: {}", path, why);
  }
  return false;
}

}  // namespace

bool write_all(const std::string& path, const std::string& text) {
  if (path == "-") {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (std::fflush(stdout) == 0 && written) return true;
    return complain(path, std::strerror(errno));
  }
  output_file file(path, output_file::mode::replace);
  if (!file.is_open()) return complain(path, file.error().c_str());
  if (file.write(text) && file.close()) return true;
  return complain(path, std::strerror(errno));
}

bool write_json(const std::string& path, const nlohmann::ordered_json& document) {
  return write_all(path, as_json::written(document));
}

bool may_write(const std::string& path, bool force) {
  if (path.empty() || path == "-" || force) return true;
  std::error_code failed;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, failed))) return true;
  log::error("{}: is there already; choose another name, or --force to replace it", path);
  return false;
}

// Under another name first: a page that a browser shows meanwhile is never half a page.
bool write_page(const std::string& path, const std::string& page) {
  if (path == "-") return write_all(path, page);
  unfinished_file file(path, false);
  file.write(page);
  if (!file.finish()) {
    log::error("{}: cannot be written: {}", path, *file.error());
    return false;
  }
  log::note("wrote {} ({})", path, text::format_bytes(page.size()));
  return true;
}

}  // namespace memtrace::cli
