// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace memtrace::cli {

namespace {

[[nodiscard]] bool is_ours(const struct stat& facts) {
  return facts.st_uid == ::geteuid();
}

// A link that the user made, or the system (/dev/stdout), leads where the user wants.
[[nodiscard]] bool is_trusted_link(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode) &&
         (is_ours(facts) || facts.st_uid == 0);
}

// Everybody may make files in it, and only their owners may take them away.
[[nodiscard]] bool is_in_sticky_directory(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  struct stat facts {};
  return ::stat(folder.empty() ? "." : folder.c_str(), &facts) == 0 &&
         (facts.st_mode & S_ISVTX) != 0 && (facts.st_mode & S_IWOTH) != 0;
}

// The kernel refuses the same where fs.protected_symlinks, protected_regular and
// protected_hardlinks are set, which not every system has.
int open_to_write(const std::string& path, bool append, std::string& why_not) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : 0);
  int file = ::open(path.c_str(), flags | O_NOFOLLOW, 0666);
  if (file < 0 && errno == ELOOP) {
    if (!is_trusted_link(path)) {
      why_not = "is a symbolic link that somebody else made; name another file";
      return -1;
    }
    file = ::open(path.c_str(), flags, 0666);
  }
  struct stat facts {};
  if (file < 0 || ::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return file;
  if ((!is_ours(facts) || facts.st_nlink > 1) && is_in_sticky_directory(path)) {
    why_not = is_ours(facts) ? "is a second name of another file; name another one"
                             : "belongs to somebody else, in a directory that everybody may write; "
                               "name another file";
  } else if (append || ::ftruncate(file, 0) == 0) {
    return file;
  }
  ::close(file);
  return -1;
}

}  // namespace

output_file::output_file(const std::string& path, mode how) : path_(path) {
  if (how == mode::create) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file_ = ::open(path.c_str(), flags, 0666);
  } else {
    file_ = open_to_write(path, how == mode::append, error_);
  }
  if (file_ < 0 && error_.empty()) error_ = std::strerror(errno);
}

output_file::~output_file() {
  if (file_ >= 0) ::close(file_);
}

bool output_file::write(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(file_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool output_file::write_at(std::uint64_t offset, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const auto count = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool output_file::close() {
  return ::close(std::exchange(file_, -1)) == 0;
}

void output_file::remove() {
  ::unlink(path_.c_str());
}

}  // namespace memtrace::cli
