// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/private_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace memtrace::simulator::untouched {
namespace {

// Goes over the lines of a file, the begin of each that is longer than it keeps.
class lines_of {
 public:
  explicit lines_of(const char* path) : file_(::open(path, O_RDONLY | O_CLOEXEC)) {}
  ~lines_of() {
    if (file_ >= 0) ::close(file_);
  }
  lines_of(const lines_of&) = delete;
  lines_of& operator=(const lines_of&) = delete;

  // The next line, without its end; nullptr after the last.
  const char* next() noexcept {
    std::size_t length = 0;
    for (;;) {
      if (at_ == filled_) {
        const ssize_t got = file_ < 0 ? 0 : ::read(file_, text_.data(), text_.size());
        if (got <= 0) return nullptr;
        at_ = 0;
        filled_ = static_cast<std::size_t>(got);
      }
      const char one = text_[at_++];
      if (one == '\n') break;
      if (length + 1 < line_.size()) line_[length++] = one;
    }
    line_[length] = '\0';
    return line_.data();
  }

 private:
  int file_;
  std::size_t at_ = 0, filled_ = 0;
  std::array<char, 4096> text_;
  std::array<char, 128> line_;
};

}  // namespace

bool is_private_memory(std::uintptr_t begin, std::uintptr_t end) noexcept {
  lines_of maps("/proc/self/maps");
  while (const char* const line = maps.next()) {
    char* rest = nullptr;
    const unsigned long from = std::strtoul(line, &rest, 16);
    const unsigned long to = *rest == '-' ? std::strtoul(rest + 1, &rest, 16) : 0;
    if (to <= begin) continue;
    unsigned long inode = 0;
    char rights[5] = {};
    if (std::sscanf(rest, "%4s %*s %*s %lu", rights, &inode) != 2) return false;
    if (from > begin || rights[3] != 'p' || inode != 0) return false;
    if (end <= to) return true;
    begin = to;
  }
  return false;
}

}  // namespace memtrace::simulator::untouched
