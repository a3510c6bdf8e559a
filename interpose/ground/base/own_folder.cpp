// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/own_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace memtrace {
namespace {

// The path without its last name; "." of a name alone.
bool parent_of(const char* path, char (&parent)[PATH_MAX]) noexcept {
  const auto size = static_cast<std::size_t>(std::snprintf(parent, sizeof parent, "%s", path));
  if (size >= sizeof parent) return false;
  char* const slash = std::strrchr(parent, '/');
  if (slash == nullptr) {
    std::strcpy(parent, ".");
  } else {
    slash[slash == parent ? 1 : 0] = '\0';
  }
  return true;
}

}  // namespace

bool may_follow(const char* path) noexcept {
  struct stat link {};
  if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode) || link.st_uid == geteuid()) return true;
  char parent[PATH_MAX];
  struct stat folder {};
  if (!parent_of(path, parent) || stat(parent, &folder) != 0) return false;
  const bool is_everybodys = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return !is_everybodys || link.st_uid == folder.st_uid;
}

int open_folder(const char* path) noexcept {
  char name[PATH_MAX];
  if (std::snprintf(name, sizeof name, "%s", path[0] == '\0' ? "." : path) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  // "/tmp/traces/" is the link itself, too.
  for (std::size_t end = std::strlen(name); end > 1 && name[end - 1] == '/';) name[--end] = '\0';
  const int folder = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0 || (errno != ELOOP && errno != ENOTDIR)) return folder;
  if (!may_follow(name)) {
    errno = EACCES;
    return -1;
  }
  return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace memtrace
