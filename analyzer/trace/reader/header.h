// SPDX-License-Identifier: Apache-2.0
//
// The first page of a trace: read, and checked so that everything behind it may trust its sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/error.h"
#include "memtrace/trace_format.h"

namespace memtrace::trace {

// Errors: empty_file, not_a_trace, wrong_version, truncated_header, corrupt_header, io_error.
[[nodiscard]] result<format::file_header> read_header(byte_source& source);

// The bytes of a block's header or of the trailer, to be read into.
template <class T>
[[nodiscard]] std::span<std::byte> room_of(T& object) {
  return std::as_writable_bytes(std::span(&object, 1));
}

// What its header_checksum has to be.
template <class T>
[[nodiscard]] std::uint32_t checksum_after(const T& head) {
  constexpr auto covered = offsetof(T, header_checksum) + sizeof(head.header_checksum);
  return format::fnv1a32(reinterpret_cast<const unsigned char*>(&head) + covered,
                         sizeof(T) - covered);
}

// File offsets that follow from a checked header.
[[nodiscard]] constexpr std::uint64_t slot_offset(const format::file_header& header,
                                                  std::uint32_t slot) {
  return header.header_bytes + std::uint64_t{slot} * header.slot_bytes;
}
[[nodiscard]] constexpr std::uint64_t first_block_offset(const format::file_header& header) {
  return slot_offset(header, header.slot_count);
}

}  // namespace memtrace::trace
