// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/zero_memory.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace memtrace::simulator::untouched {
namespace {

// A set of ranges of addresses that allocates nothing: an allocation of ours would move the
// program's own, on whose addresses the order of its frees may depend.
class address_ranges {
 public:
  // In place of those that it overlaps. Where there is no room, or others hold the set for long (a
  // thread that a fork left behind), it is left out.
  void add(std::uintptr_t begin, std::uintptr_t end) noexcept;

  // Whether one range holds all of that. False also where others hold the set for long.
  [[nodiscard]] bool holds(std::uintptr_t begin, std::uintptr_t end) noexcept;

 private:
  struct range {
    std::uintptr_t begin, end;
  };
  class lock;

  static constexpr std::size_t most = 1 << 16;  // parameters of a model: some hundreds or thousands
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  std::size_t count = 0;
  std::array<range, most> ranges{};
};

class address_ranges::lock {
 public:
  explicit lock(std::atomic_flag& flag) : flag_(flag) {
    constexpr int patience = 1000;  // looks at a set that nobody holds for longer than microseconds
    for (int i = 0; i < patience && !is_held_; ++i) {
      is_held_ = !flag_.test_and_set(std::memory_order_acquire);
      if (!is_held_) ::sched_yield();
    }
  }
  ~lock() {
    if (is_held_) flag_.clear(std::memory_order_release);
  }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  std::atomic_flag& flag_;
  bool is_held_ = false;
};

void address_ranges::add(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const lock held(taken);
  if (!held.is_held()) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (ranges[i].end <= begin || end <= ranges[i].begin) ranges[kept++] = ranges[i];
  }
  count = kept;
  if (count < most) ranges[count++] = {begin, end};
}

bool address_ranges::holds(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const lock held(taken);
  if (!held.is_held()) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (ranges[i].begin <= begin && end <= ranges[i].end) return true;
  }
  return false;
}

constinit address_ranges made_zero;  // by make_zero

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

// Whether all of the range is mapped, privately, and belongs to no file, by /proc/self/maps: some
// tens of microseconds for each hundred mappings of the process. Allocates nothing.
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

constexpr std::uintptr_t page = 4096;

struct kept_errno {
  int before = errno;
  ~kept_errno() { errno = before; }
};

// The whole pages of a range, and what lies before and behind them.
struct pages_of {
  pages_of(std::uintptr_t from, std::size_t bytes)
      : begin(from),
        end(from + bytes),
        first(std::min(end, (begin + page - 1) / page * page)),
        last(std::max(first, end / page * page)) {}
  std::uintptr_t begin, end;
  std::uintptr_t first, last;  // of whole pages: [first, last)
};

bool all_zero(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(begin);
  const std::size_t count = end - begin;
  return count == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

// Bits of /proc/self/pagemap (the kernel's admin-guide/mm/pagemap.rst): a page that is neither in
// memory nor swapped out has never been written, where it belongs to no file.
constexpr std::uint64_t exists = std::uint64_t{1} << 63 | std::uint64_t{1} << 62;

bool pages_are_zero(std::uintptr_t first, std::uintptr_t last) noexcept {
  const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (map < 0) return false;
  std::array<std::uint64_t, 512> entries;
  bool zero = true;
  for (std::uintptr_t at = first; zero && at < last;) {
    const std::size_t count = std::min<std::size_t>(entries.size(), (last - at) / page);
    const auto bytes = static_cast<ssize_t>(count * sizeof(std::uint64_t));
    const auto offset = static_cast<off_t>(at / page * sizeof(std::uint64_t));
    zero = ::pread(map, entries.data(), static_cast<std::size_t>(bytes), offset) == bytes;
    for (std::size_t i = 0; zero && i < count; ++i, at += page) {
      zero = (entries[i] & exists) == 0 || all_zero(at, at + page);
    }
  }
  ::close(map);
  return zero;
}

}  // namespace

bool make_zero(void* begin, std::size_t bytes) noexcept {
  const kept_errno errno_stays;
  const pages_of range(reinterpret_cast<std::uintptr_t>(begin), bytes);
  if (range.first == range.last) return false;
  void* const first = reinterpret_cast<void*>(range.first);
  const std::size_t whole = range.last - range.first;
  // Only of private memory that belongs to no file can pages be freed: elsewhere the second call
  // would bring back what the file holds, and take from others what they share.
  if (::madvise(first, whole, MADV_FREE) != 0) return false;
  if (::madvise(first, whole, MADV_DONTNEED) != 0) return false;
  std::memset(begin, 0, range.first - range.begin);
  std::memset(reinterpret_cast<void*>(range.last), 0, range.end - range.last);
  made_zero.add(range.begin, range.end);
  return true;
}

bool is_zero(const void* begin, std::size_t bytes) noexcept {
  const kept_errno errno_stays;
  const pages_of range(reinterpret_cast<std::uintptr_t>(begin), bytes);
  // Nearly all memory is none of ours, and is told so at once.
  if (!made_zero.holds(range.begin, range.end)) return false;
  // The range may have been given back, and be another's by now.
  if (!is_private_memory(range.begin, range.end)) return false;
  return all_zero(range.begin, range.first) && all_zero(range.last, range.end) &&
         pages_are_zero(range.first, range.last);
}

}  // namespace memtrace::simulator::untouched
