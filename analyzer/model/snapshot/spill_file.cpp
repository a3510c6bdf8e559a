// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace memtrace::snapshot {

namespace {

// -1: errno says why.
[[nodiscard]] int open_nameless() {
  const char* const chosen = std::getenv("TMPDIR");
  const std::string folder = chosen == nullptr || *chosen == 0 ? "/tmp" : chosen;
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  // Not every file system has files without a name.
  std::string name = folder + "/memtrace.XXXXXX";
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

}  // namespace

spill_file::~spill_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool spill_file::move_to_file() {
  descriptor_ = open_nameless();
  if (descriptor_ < 0 || !write_to_file(0, bytes_)) return false;
  bytes_ = {};
  return true;
}

bool spill_file::write_to_file(std::uint64_t offset, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const auto count =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool spill_file::write(std::uint64_t offset, std::span<const unsigned char> bytes) {
  const auto end = offset + bytes.size();
  if (descriptor_ < 0 && end > most_in_memory && !move_to_file()) return false;
  size_ = std::max(size_, end);
  if (descriptor_ >= 0) return write_to_file(offset, bytes);
  bytes_.resize(static_cast<std::size_t>(size_));
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  return true;
}

std::size_t spill_file::read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset >= size_) return 0;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - offset));
  if (descriptor_ < 0) {
    const auto from = std::as_bytes(std::span(bytes_)).subspan(static_cast<std::size_t>(offset));
    std::ranges::copy(from.first(wanted), out.begin());
    return wanted;
  }
  std::size_t done = 0;
  while (done < wanted) {
    const auto count =
        ::pread(descriptor_, out.data() + done, wanted - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error_ = errno;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace memtrace::snapshot
