// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/address_space.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "simulator/core/config.h"
#include "simulator/log/log.h"

namespace memtrace::simulator {

range_allocator::range_allocator(address_t begin, address_t end) {
  free_[begin] = end - begin;
}

bool range_allocator::carve(address_t address, std::uint64_t size) {
  auto hole = free_.upper_bound(address);
  if (hole == free_.begin()) return false;
  --hole;
  const address_t begin = hole->first;
  const address_t end = begin + hole->second;
  if (size > end - begin || address > end - size) return false;
  free_.erase(hole);
  if (address > begin) free_[begin] = address - begin;
  if (end > address + size) free_[address + size] = end - (address + size);
  return true;
}

address_t range_allocator::allocate(std::uint64_t size, std::uint64_t alignment, address_t wanted) {
  if (wanted != 0 && wanted % alignment == 0 && carve(wanted, size)) return wanted;
  for (const auto& [begin, length] : free_) {
    const address_t start = (begin + alignment - 1) & ~(alignment - 1);
    const std::uint64_t skipped = start - begin;
    if (skipped > length || size > length - skipped) continue;
    return carve(start, size) ? start : 0;
  }
  return 0;
}

void range_allocator::release(address_t address, std::uint64_t size) {
  auto after = free_.lower_bound(address);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      address = before->first;
      size += before->second;
      free_.erase(before);
    }
  }
  if (after != free_.end() && after->first == address + size) {
    size += after->second;
    free_.erase(after);
  }
  free_[address] = size;
}

namespace address_space {
namespace {

constexpr std::uint64_t tebibyte = 1ull << 40;
constexpr std::uint64_t device_share = tebibyte / 2;
constexpr std::uint64_t all_devices = device_share * maximum_devices;
constexpr std::uint64_t pool_share = 2 * tebibyte;
// PyTorch reserves 9/8 of the GPU for each stream and pool: 16 TiB hold 64 of a 192 GiB GPU.
constexpr std::uint64_t reservation_share = 16 * tebibyte;
constexpr std::uint64_t managed_share = 2 * tebibyte;
constexpr std::uint64_t graph_share = tebibyte;
constexpr std::uint64_t import_share = tebibyte;
constexpr std::uint64_t length =
    all_devices + pool_share + reservation_share + managed_share + graph_share + import_share;

// Between what a program that is not position-independent uses (low) and where the kernel puts
// libraries and stacks (near 2^47), and outside the shadow of the address and thread sanitizers.
// The kernel chooses if all are taken.
constexpr address_t places[] = {0x350000000000, 0x200000000000, 0x600000000000};

// The system call itself: the thread sanitizer's mmap refuses addresses that it does not watch.
void* map_without_access(address_t place, int flags) {
  const long at = syscall(SYS_mmap, place, length, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return reinterpret_cast<void*>(at);
}

#ifdef __SANITIZE_THREAD__
// The thread sanitizer has mapped all gaps between what it watches without access; the first place
// lies in one of them.
constexpr int at_its_place = MAP_FIXED;
#else
constexpr int at_its_place = MAP_FIXED_NOREPLACE;
#endif

address_t reserve() {
  for (const address_t place : places) {
    void* at = map_without_access(place, at_its_place);
    if (at == reinterpret_cast<void*>(place)) return place;
    if (at != MAP_FAILED) munmap(at, length);
  }
  void* anywhere = map_without_access(0, 0);
  if (anywhere == MAP_FAILED) {
    log::refuse("no address space for the simulated GPU (ulimit -v?)");
  }
  constexpr address_t granule = 2u << 20;
  return (reinterpret_cast<address_t>(anywhere) + granule - 1) & ~(granule - 1);
}

address_t base() {
  static const address_t address = reserve();
  return address;
}

}  // namespace

span whole() {
  return {base(), of_imports().end};
}

span of_device(int device) {
  const address_t begin = base() + static_cast<std::uint64_t>(device) * device_share;
  return {begin, begin + device_share};
}

span below_4_gib_of_device(int device) {
  constexpr std::uint64_t share = 32u << 20;
  constexpr std::uint64_t room = share * maximum_devices + (2u << 20);
  static const address_t begin = [] {
    void* const at = mmap(nullptr, room, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
    constexpr address_t granule = 2u << 20;
    return at == MAP_FAILED ? 0 : (reinterpret_cast<address_t>(at) + granule - 1) & ~(granule - 1);
  }();
  if (begin == 0) return {0, 0};
  const address_t mine = begin + static_cast<std::uint64_t>(device) * share;
  return {mine, mine + share};
}

span of_pools() {
  return {base() + all_devices, base() + all_devices + pool_share};
}

span of_reservations() {
  const address_t begin = of_pools().end;
  return {begin, begin + reservation_share};
}

span of_managed() {
  const address_t begin = of_reservations().end;
  return {begin, begin + managed_share};
}

span of_graphs() {
  const address_t begin = of_managed().end;
  return {begin, begin + graph_share};
}

span of_imports() {
  const address_t begin = of_graphs().end;
  // The last granule stays out, in case the kernel's choice had to be aligned.
  return {begin, begin + import_share - (2u << 20)};
}

}  // namespace address_space
}  // namespace memtrace::simulator
