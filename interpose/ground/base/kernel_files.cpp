// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/kernel_files.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace memtrace {
namespace {

// The system calls themselves: the program, or a library in front of it, may have its own open().
int open_directly(const char* path, int flags) noexcept {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_RDONLY | O_CLOEXEC, 0));
}

void close_directly(int file) noexcept {
  syscall(SYS_close, file);
}

// An entry as getdents64 writes it (man 2 getdents).
struct entry_header {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  unsigned char type;
};
constexpr std::size_t name_offset = 19;

}  // namespace

std::string_view read_file(const char* path, std::span<char> buffer) noexcept {
  const int file = open_directly(path, 0);
  if (file < 0) return {};
  std::size_t filled = 0;
  bool is_whole = false;
  while (filled < buffer.size()) {
    const long count = syscall(SYS_read, file, buffer.data() + filled, buffer.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    is_whole = count == 0;
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  close_directly(file);
  std::string_view text(buffer.data(), filled);
  if (!is_whole) text = text.substr(0, text.rfind('\n') + 1);
  return text;
}

std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  const std::size_t first = at;
  std::uint64_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    if (value > (~std::uint64_t{0} - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return at == first ? std::nullopt : std::optional(value);
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) noexcept {
  std::string_view line;
  while (next_line(text, line)) {
    if (line.starts_with(key)) return number_in(line.substr(key.size()));
  }
  return std::nullopt;
}

bool next_line(std::string_view& text, std::string_view& line) noexcept {
  if (text.empty()) return false;
  line = next_field(text, '\n');
  return true;
}

std::string_view next_field(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return field;
}

directory_listing::directory_listing(const char* path) noexcept
    : file_(open_directly(path, O_DIRECTORY)) {}

directory_listing::~directory_listing() {
  if (file_ >= 0) close_directly(file_);
}

std::string_view directory_listing::next() noexcept {
  if (file_ < 0) return {};
  if (at_ >= filled_) {
    const long count = syscall(SYS_getdents64, file_, entries_, sizeof entries_);
    if (count <= 0) return {};
    filled_ = static_cast<std::size_t>(count);
    at_ = 0;
  }
  entry_header entry;
  std::memcpy(&entry, entries_ + at_, name_offset);
  const char* const name = entries_ + at_ + name_offset;
  at_ += entry.bytes;
  return name;
}

}  // namespace memtrace
