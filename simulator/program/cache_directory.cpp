// SPDX-License-Identifier: Apache-2.0
#include "cache_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace memtrace::simulator {
namespace {

namespace fs = std::filesystem;

// In a directory that everybody may write, and whose names everybody may change, none stays ours.
bool keeps_its_names(const fs::path& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 &&
         ((info.st_mode & S_IWOTH) == 0 || (info.st_mode & S_ISVTX) != 0);
}

// Libraries are loaded from here: in a folder that others may write they could be anybody's.
bool usable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (!keeps_its_names(folder.parent_path())) return false;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat info {};
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         ::access(folder.c_str(), W_OK) == 0;
}

void add_from(const char* variable, const std::string& below, std::vector<fs::path>& candidates) {
  const char* value = std::getenv(variable);
  if (value != nullptr && value[0] == '/') candidates.push_back(fs::path(value) / below);
}

}  // namespace

result<fs::path> open_cache_directory(const fs::path& wanted) {
  std::vector<fs::path> candidates;
  const std::string own = "memtrace-" + std::to_string(::geteuid());
  if (!wanted.empty()) {
    candidates.push_back(fs::absolute(wanted));
  } else {
    add_from("XDG_CACHE_HOME", "memtrace", candidates);
    add_from("HOME", ".cache/memtrace", candidates);
    add_from("TMPDIR", own, candidates);
    candidates.push_back(fs::path("/tmp") / own);
  }
  for (const fs::path& folder : candidates) {
    if (usable(folder)) return folder;
  }
  return failure{"No folder for the simulator's libraries: " + candidates.front().string() +
                 " cannot be created or written, or others may write it; set XDG_CACHE_HOME to a "
                 "folder of your own."};
}

}  // namespace memtrace::simulator
