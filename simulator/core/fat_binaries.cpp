// SPDX-License-Identifier: Apache-2.0
//
// The layouts are those of CUDA's fatbinary_section.h (the wrapper), and, for the entries, as
// public tools that read fat binaries know them.
#include "simulator/core/fat_binaries.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>

namespace memtrace::simulator::fat_binaries {

namespace {

struct wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const unsigned char* binary;
};
constexpr std::uint32_t wrapper_magic = 0x466243b1;

struct header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // of the entries
};
constexpr std::uint32_t header_magic = 0xba55ed50;

struct entry {
  std::uint16_t kind;  // 1 PTX, 2 machine code
  std::uint16_t flags;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // behind its header
  std::uint64_t others;
  std::uint32_t version;
  std::uint32_t architecture;
};
constexpr std::uint16_t machine_code = 2;

std::set<int> architectures_in(const void* from) {
  std::set<int> found;
  wrapper outer;
  std::memcpy(&outer, from, sizeof outer);
  if (outer.magic != wrapper_magic || outer.binary == nullptr) return found;
  header whole;
  std::memcpy(&whole, outer.binary, sizeof whole);
  if (whole.magic != header_magic) return found;
  const unsigned char* at = outer.binary + whole.header_bytes;
  std::uint64_t left = whole.bytes;
  while (left >= sizeof(entry)) {
    entry one;
    std::memcpy(&one, at, sizeof one);
    if (one.header_bytes < sizeof one || one.header_bytes > left ||
        one.bytes > left - one.header_bytes) {
      break;
    }
    if (one.kind == machine_code) found.insert(static_cast<int>(one.architecture));
    at += one.header_bytes + one.bytes;
    left -= one.header_bytes + one.bytes;
  }
  return found;
}

}  // namespace

int architecture_for(const void* wrapper, int capability) {
  if (wrapper == nullptr) return capability;
  const std::set<int> found = architectures_in(wrapper);
  if (found.empty()) return capability;
  const auto above = found.upper_bound(capability);
  return above == found.begin() ? *above : *std::prev(above);
}

}  // namespace memtrace::simulator::fat_binaries
