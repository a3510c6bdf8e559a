// SPDX-License-Identifier: Apache-2.0
//
// malloc_usable_size() reads where the block ends: for an address that is not a block's it crashes.
// So the block's header is read (glibc's malloc/malloc.c, struct malloc_chunk):
//
//   by new           size | flags, object …
//   by make_shared   size | flags, functions of the control block, two counts, object …
#include "interpose/sight/heap_scan/block_size.h"

#include <malloc.h>

#include <cstdint>
#include <cstdlib>

#include "interpose/ground/base/found_once.h"

namespace memtrace::heap_scan {

namespace {

// No node is larger.
constexpr std::uint64_t largest = 16u << 10;
constexpr std::uint64_t smallest = 32;
constexpr std::uint64_t flags = 7;
constexpr std::uint64_t is_mapped = 2;
constexpr std::size_t control_block = 16;

// The usable bytes of the block with this header; its last word is the next block's.
std::size_t usable(std::uint64_t header) noexcept {
  const std::uint64_t size = header & ~flags;
  if ((header & is_mapped) != 0 || size < smallest || size > largest || size % 16 != 0) return 0;
  return size - sizeof(std::uint64_t);
}

// Asked of blocks, not of where malloc() comes from: in an executable at a fixed address its address
// is one in the executable.
bool blocks_are_glibcs() noexcept {
  const autograd::readable_memory memory;
  for (const std::size_t size : {40u, 488u, 4096u}) {
    void* const block = std::malloc(size);
    if (block == nullptr) return false;
    const std::size_t found =
        usable(memory.word(reinterpret_cast<std::uint64_t>(block) - sizeof(std::uint64_t)));
    const bool is_as_known = found == malloc_usable_size(block);
    std::free(block);
    if (!is_as_known) return false;
  }
  return true;
}

}  // namespace

std::size_t bytes_from(const autograd::readable_memory& memory, const void* object) noexcept {
  static constinit found_once<bool, blocks_are_glibcs> is_known;
  if (!is_known.get()) return 0;
  // The size before the control block, its functions, and its counts or the object's own size.
  std::uint64_t before[3];
  if (!memory.copy(reinterpret_cast<std::uint64_t>(object) - sizeof before, before, sizeof before))
    return 0;
  const bool is_counts = before[2] >> 32 != 0;
  if (!is_counts) return usable(before[2]);
  const std::size_t size = usable(before[0]);
  return size < control_block ? 0 : size - control_block;
}

}  // namespace memtrace::heap_scan
