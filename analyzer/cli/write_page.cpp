// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/write_page.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "analyzer/base/text/units.h"
#include "analyzer/cli/log.h"
#include "analyzer/cli/unfinished_file.h"
#include "analyzer/cli/write_file.h"

namespace memtrace::cli {

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
