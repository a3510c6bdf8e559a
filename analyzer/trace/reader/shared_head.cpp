// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/shared_head.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "memtrace/trace_format.h"

namespace memtrace::trace {

namespace {

// These bytes must be equal: process, start and clock, under a checksum.
constexpr std::size_t identity_bytes = offsetof(format::file_header, state);

struct first_bytes {
  std::array<char, format::shared_head_offset + format::shared_name_bytes> bytes{};
  [[nodiscard]] format::file_header header() const {
    format::file_header found{};
    std::memcpy(&found, bytes.data(), sizeof found);
    return found;
  }
};

[[nodiscard]] bool read_all(int file, void* to, std::size_t bytes, std::uint64_t offset) {
  return ::pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// A trace may be anybody's: the name leads nowhere but to a file of the recorder's.
[[nodiscard]] std::optional<std::string> path_in(const first_bytes& of) {
  const char* const from = of.bytes.data() + format::shared_head_offset;
  const std::string name(from, ::strnlen(from, format::shared_name_bytes));
  if (!name.starts_with(format::shared_prefix) || name.find('/') != std::string::npos ||
      name.size() == format::shared_name_bytes) {
    return std::nullopt;
  }
  return std::string(format::shared_folder) + "/" + name;
}

[[nodiscard]] std::uint64_t head_bytes(const format::file_header& of) {
  if (of.slot_bytes > format::max_slot_bytes || of.slot_count != format::slot_count) return 0;
  return of.header_bytes + std::uint64_t{of.slot_bytes} * of.slot_count;
}

// The descriptor of the head that belongs to this trace; -1: none.
[[nodiscard]] int open_head(const std::string& path, const first_bytes& trace) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return -1;
  struct stat facts {};
  first_bytes head;
  if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
      read_all(file, head.bytes.data(), head.bytes.size(), 0) &&
      std::equal(head.bytes.begin(), head.bytes.begin() + identity_bytes, trace.bytes.begin()) &&
      static_cast<std::uint64_t>(facts.st_size) >= head_bytes(trace.header())) {
    return file;
  }
  ::close(file);
  return -1;
}

// Back to front: with the header comes the number of dropped events, of which a reader is told.
[[nodiscard]] bool copy_into_trace(int head, const std::string& path, std::uint64_t bytes) {
  std::vector<char> content(bytes);
  if (!read_all(head, content.data(), bytes, 0)) return false;
  const int trace = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (trace < 0) return false;
  const auto write = [&](std::uint64_t from, std::uint64_t count) {
    return ::pwrite(trace, content.data() + from, count, static_cast<off_t>(from)) ==
           static_cast<ssize_t>(count);
  };
  const bool written = write(format::header_bytes, bytes - format::header_bytes) &&
                       write(0, format::header_bytes) && ::fsync(trace) == 0;
  ::close(trace);
  return written;
}

}  // namespace

shared_head look_at_shared_head(int trace) {
  first_bytes start;
  if (!read_all(trace, start.bytes.data(), start.bytes.size(), 0)) return {};
  const auto head_path = path_in(start);
  const auto bytes = head_bytes(start.header());
  if (!head_path || bytes <= format::header_bytes) return {};
  const int head = open_head(*head_path, start);
  return head < 0 ? shared_head{} : shared_head{head, bytes};
}

bool has_writer(const shared_head& head) {
  if (::flock(head.descriptor, LOCK_SH | LOCK_NB) != 0) return true;
  ::flock(head.descriptor, LOCK_UN);
  return false;
}

shared_head take_shared_head(const std::string& path, int trace) {
  first_bytes start;
  if (!read_all(trace, start.bytes.data(), start.bytes.size(), 0)) return {};
  const auto head_path = path_in(start);
  const auto bytes = head_bytes(start.header());
  if (!head_path || bytes <= format::header_bytes) return {};
  const int head = open_head(*head_path, start);
  if (head < 0) return {};
  // Its writer holds this lock while it lives.
  if (::flock(head, LOCK_EX | LOCK_NB) == 0 && copy_into_trace(head, path, bytes)) {
    ::unlink(head_path->c_str());
    ::close(head);
    return {};
  }
  return {head, bytes};
}

}  // namespace memtrace::trace
