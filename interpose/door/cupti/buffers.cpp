// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/buffers.h"

#include <sys/mman.h>

#include <array>

#include "interpose/ground/base/small_lock.h"

namespace memtrace::cupti::buffers {
namespace {

constexpr std::size_t most_kept = 8;

struct {
  small_lock lock;
  std::array<std::uint8_t*, most_kept> unused{};
  std::size_t count = 0;
} kept;

}  // namespace

std::uint8_t* take() noexcept {
  {
    const lock_holder holder(kept.lock);
    if (kept.count > 0) return kept.unused[--kept.count];
  }
  void* const fresh =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return fresh == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(fresh);
}

void give_back(std::uint8_t* buffer) noexcept {
  if (buffer == nullptr) return;
  {
    const lock_holder holder(kept.lock);
    if (kept.count < most_kept) {
      kept.unused[kept.count++] = buffer;
      return;
    }
  }
  munmap(buffer, bytes);
}

}  // namespace memtrace::cupti::buffers
