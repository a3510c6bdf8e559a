// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/head_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>

#include "interpose/ground/recorder/tick_clock.h"
#include "memtrace/trace_format.h"

namespace memtrace {
namespace {

// /dev/shm is the program's: DataLoader workers hand batches over there. At most this share of
// what is free is taken.
constexpr std::uint64_t least_rest = 8;

bool is_memory(const struct statfs& about) noexcept {
  return static_cast<std::uint32_t>(about.f_type) == TMPFS_MAGIC;
}

void* map(int file, std::size_t bytes) noexcept {
  const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_DONTFORK);
  return memory;
}

}  // namespace

head_memory::~head_memory() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
}

int head_memory::get(int file, std::size_t bytes) noexcept {
  size_ = bytes;
  struct statfs about {};
  if (fstatfs(file, &about) == 0 && is_memory(about)) {
    home_ = head_home::in_trace;
    bytes_ = static_cast<unsigned char*>(map(file, bytes));
    return bytes_ == nullptr ? errno : 0;
  }
  if (get_shared()) {
    home_ = head_home::shared;
    return 0;
  }
  home_ = head_home::own;
  bytes_ = static_cast<unsigned char*>(map(-1, bytes));
  return bytes_ == nullptr ? ENOMEM : 0;
}

bool head_memory::get_shared() noexcept {
  struct statfs about {};
  if (statfs(format::shared_folder, &about) != 0 || !is_memory(about)) return false;
  // A tmpfs without a limit says 0 blocks.
  if (about.f_blocks != 0 &&
      about.f_bavail * static_cast<std::uint64_t>(about.f_bsize) / least_rest <
          static_cast<std::uint64_t>(size_)) {
    return false;
  }
  char name[format::shared_name_bytes];
  std::snprintf(name, sizeof name, "%s%u.%d.%llx", format::shared_prefix, getuid(), getpid(),
                static_cast<unsigned long long>(monotonic_ns()));
  const std::string path = std::string(format::shared_folder) + "/" + name;
  const int file =
      open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return false;
  // The lock is the mapping's as much as the descriptor's: it holds until the process is gone, and
  // tells a reader whether it is. Space that is allocated now cannot raise SIGBUS later.
  if (flock(file, LOCK_EX | LOCK_NB) == 0 &&
      posix_fallocate(file, 0, static_cast<off_t>(size_)) == 0) {
    bytes_ = static_cast<unsigned char*>(map(file, size_));
  }
  close(file);
  if (bytes_ == nullptr) {
    unlink(path.c_str());
    return false;
  }
  name_ = name;
  return true;
}

void head_memory::remove_file() noexcept {
  if (name_.empty()) return;
  unlink((std::string(format::shared_folder) + "/" + name_).c_str());
  name_.clear();
}

void head_memory::forget() noexcept {
  bytes_ = nullptr;
  name_.clear();
}

}  // namespace memtrace
