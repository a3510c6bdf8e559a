// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/zero_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "simulator/untouched/address_ranges.h"
#include "simulator/untouched/private_memory.h"

namespace memtrace::simulator::untouched {
namespace {

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

// Of /proc/self/pagemap (the kernel's admin-guide/mm/pagemap.rst): a page that is neither in memory
// nor swapped out has never been written, where it belongs to no file.
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
