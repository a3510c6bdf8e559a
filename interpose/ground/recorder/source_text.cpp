// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/source_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>

namespace memtrace {
namespace {

// The system calls themselves: the program, or a library in front of it, may have its own open().
class open_file {
 public:
  explicit open_file(const char* path) noexcept
      : number_(static_cast<int>(syscall(SYS_openat, AT_FDCWD, path,
                                         O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0))) {}
  ~open_file() {
    if (number_ >= 0) syscall(SYS_close, number_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  [[nodiscard]] bool look(struct stat& now) const noexcept {
    return number_ >= 0 && fstat(number_, &now) == 0 && S_ISREG(now.st_mode);
  }
  // Up to the end of the file or of the text's room; false on an error.
  [[nodiscard]] bool read(std::string& text) const noexcept {
    std::size_t filled = 0;
    while (filled < text.size()) {
      const long count = syscall(SYS_read, number_, text.data() + filled, text.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    text.resize(filled);
    return true;
  }

 private:
  int number_;
};

std::uint64_t nanoseconds(const timespec& time) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  return time.tv_sec < 0 ? 0
                         : static_cast<std::uint64_t>(time.tv_sec) * second +
                               static_cast<std::uint64_t>(time.tv_nsec);
}

// A time of modification can be set, and a file can be put in the place of another; neither leaves
// the time of the inode's last change as it was.
std::uint64_t latest_change(const struct stat& file) noexcept {
  return std::max(nanoseconds(file.st_mtim), nanoseconds(file.st_ctim));
}

}  // namespace

source_text read_source(const char* path, std::uint64_t began_ns,
                        std::uint64_t most_bytes) noexcept {
  source_text made;
  const open_file file(path);
  struct stat before {};
  struct stat after {};
  made.flags = format::source_unreadable;
  if (!file.look(before)) return made;
  made.modified_ns = nanoseconds(before.st_mtim);
  made.bytes = static_cast<std::uint64_t>(before.st_size);
  const std::uint32_t changed = latest_change(before) > began_ns ? format::source_changed : 0;
  if (made.bytes > most_bytes) {
    made.flags = changed | format::source_too_large;
    return made;
  }
  try {
    made.text.resize(made.bytes + 1);  // one more would be a file that grows
  } catch (const std::bad_alloc&) {
    return made;
  }
  if (!file.read(made.text) || !file.look(after)) {
    made.text.clear();
    return made;
  }
  const bool holds_still =
      made.text.size() == made.bytes && latest_change(after) == latest_change(before);
  made.text.resize(std::min<std::size_t>(made.text.size(), made.bytes));
  made.bytes = made.text.size();
  made.flags = holds_still ? changed : format::source_changed;
  return made;
}

}  // namespace memtrace
