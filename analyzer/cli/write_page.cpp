// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/write_page.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "analyzer/cli/log.h"
#include "analyzer/cli/output_file.h"
#include "analyzer/cli/write_file.h"
#include "analyzer/text/units.h"

namespace memtrace::cli {

bool may_write_page(const std::string& path, bool force) {
  if (path.empty() || path == "-" || force) return true;
  std::error_code failed;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, failed))) return true;
  log::error("{}: is there already; choose another name, or --force to replace it", path);
  return false;
}

// Under another name first: a page that a browser shows meanwhile is never half a page.
bool write_page(const std::string& path, const std::string& page) {
  if (path == "-") return write_all(path, page);
  const auto unfinished = path + ".part-" + std::to_string(::getpid());
  output_file file(unfinished, output_file::mode::create);
  if (!file.is_open()) {
    log::error("{}: cannot be written: {}", path, file.error());
    return false;
  }
  if (!file.write(page) || !file.close()) {
    log::error("{}: cannot be written: {}", path, std::strerror(errno));
    file.remove();
    return false;
  }
  std::error_code failed;
  std::filesystem::rename(unfinished, path, failed);
  if (failed) {
    log::error("{}: cannot be written: {}", path, failed.message());
    file.remove();
    return false;
  }
  log::note("wrote {} ({})", path, text::format_bytes(page.size()));
  return true;
}

}  // namespace memtrace::cli
