// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/byte_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace memtrace::trace {

namespace {

[[nodiscard]] error open_error(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return {error_code::not_found, 0, "no such file; check the path, traces end in .mtrace"};
    case EACCES:
    case EPERM:
      return {error_code::permission_denied, 0,
              "permission denied; traces are readable by their owner only, use that account"};
    default:
      return {error_code::io_error, 0, fmt::format("cannot be opened: {}", std::strerror(number))};
  }
}

}  // namespace

std::size_t memory_source::read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset >= bytes_.size()) return 0;
  const auto count = std::min(out.size(), bytes_.size() - static_cast<std::size_t>(offset));
  std::ranges::copy(bytes_.subspan(static_cast<std::size_t>(offset), count), out.begin());
  return count;
}

result<file_source> file_source::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return open_error(errno);
  file_source source(descriptor, 0);
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return open_error(errno);
  if (S_ISDIR(facts.st_mode)) {
    return error{error_code::is_directory, 0, "is a directory; name the traces in it"};
  }
  if (!S_ISREG(facts.st_mode)) {
    return error{error_code::io_error, 0, "is not a regular file; save the trace to a file first"};
  }
  source.size_ = static_cast<std::uint64_t>(facts.st_size);
  source.head_ = take_shared_head(path, descriptor);
  return source;
}

file_source::file_source(file_source&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      head_(std::exchange(other.head_, {})),
      size_(other.size_),
      error_(other.error_) {}

file_source::~file_source() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (head_.descriptor >= 0) ::close(head_.descriptor);
}

std::size_t file_source::read(std::uint64_t offset, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto at = offset + done;
    const bool in_head = at < head_.bytes;
    const auto wanted =
        in_head ? std::min<std::uint64_t>(out.size() - done, head_.bytes - at) : out.size() - done;
    const auto count = ::pread(in_head ? head_.descriptor : descriptor_, out.data() + done, wanted,
                               static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error_ = errno;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace memtrace::trace
