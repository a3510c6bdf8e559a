// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/header.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace memtrace::trace {

namespace {

using format::file_header;

[[nodiscard]] bool sizes_agree(const file_header& header) {
  const std::uint64_t areas =
      std::uint64_t{header.slot_record_capacity} + header.slot_time_capacity;
  return header.header_bytes == format::header_bytes && header.slot_count == format::slot_count &&
         header.slot_bytes != 0 && header.slot_bytes % 4096 == 0 &&
         header.slot_bytes <= format::max_slot_bytes &&
         areas + sizeof(format::slot_header) == header.slot_bytes;
}

[[nodiscard]] bool clock_is_usable(const file_header& header) {
  return std::isfinite(header.ns_per_tick) && header.ns_per_tick > 0 && header.tick_shift < 32;
}

[[nodiscard]] error not_a_trace() {
  return {error_code::not_a_trace, 0,
          "is not a memtrace trace; name a .mtrace file that libmemtrace.so wrote"};
}

}  // namespace

result<file_header> read_header(byte_source& source) {
  file_header header{};
  const auto count = source.read(0, std::as_writable_bytes(std::span(&header, 1)));
  if (source.read_error() != 0) {
    return error{error_code::io_error, 0,
                 fmt::format("cannot be read: {}", std::strerror(source.read_error()))};
  }
  if (count == 0) {
    return error{error_code::empty_file, 0,
                 "is empty: the recorder could not write to it; check the disk and record again"};
  }
  const auto magic = std::min(count, sizeof(format::file_magic));
  if (std::memcmp(header.magic, format::file_magic, magic) != 0) return not_a_trace();
  if (count < sizeof(header)) {
    return error{error_code::truncated_header, count,
                 fmt::format("is cut off after {} bytes, inside its header; copy it again", count)};
  }
  if (format::major_of(header.version) != format::major_version) {
    return error{error_code::wrong_version, offsetof(file_header, version),
                 fmt::format("has format version {}, this memtrace reads version {}; use the "
                             "memtrace that recorded it",
                             format::major_of(header.version), format::major_version)};
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  if (format::fnv1a32(bytes, offsetof(file_header, header_checksum)) != header.header_checksum ||
      !sizes_agree(header) || !clock_is_usable(header)) {
    return error{error_code::corrupt_header, 0,
                 "has a damaged header; copy it again from where it was recorded"};
  }
  return header;
}

}  // namespace memtrace::trace
