// SPDX-License-Identifier: Apache-2.0
//
// The records of kinds that do not fit a tag: the program's source, lengths of its containers, and
// what it expects to grow.
#include <array>

#include "interpose/ground/recorder/recorder_scope.h"

namespace memtrace {

using format::kind;

bool recorder::source(const source_part_event& part) noexcept {
  constexpr std::size_t numbers = 8;  // file, flags, time, bytes, offset, and three lengths
  constexpr std::size_t longest_digest = 64;
  std::array<unsigned char, numbers * encoding::max_varint_bytes + longest_digest> fields;
  unsigned char* end = fields.data();
  for (const std::uint64_t number :
       {std::uint64_t{part.file}, std::uint64_t{part.flags}, part.modified_ns, part.bytes}) {
    end = encoding::put_varint(end, number);
  }
  end = encoding::put_text(end, part.digest.substr(0, longest_digest));
  end = encoding::put_varint(end, part.offset);
  const std::string_view text = part.text.substr(0, format::source_part_bytes);
  end = encoding::put_varint(end, text.size());
  const std::string_view before(reinterpret_cast<const char*>(fields.data()),
                                static_cast<std::size_t>(end - fields.data()));

  const auto record_bytes = static_cast<std::uint32_t>(small_record_bytes + text.size());
  constexpr std::uint32_t time_bytes = 2 * encoding::max_varint_bytes;
  scope section(*this);
  // Events have the room that there is without waiting for the disk: this comes when they leave it.
  if (!slots_.current().has_room(record_bytes, time_bytes) && !slots_.can_advance()) return false;
  if (!section.begin(record_bytes)) return false;
  section.escape(kind::source, before.size() + text.size());
  section.bytes(before);
  section.bytes(text);
  section.commit();
  return true;
}

void recorder::lengths(std::span<const container_length> found) noexcept {
  scope section(*this);
  const std::uint32_t thread = section.thread();
  bool is_first = true;
  for (const container_length& one : found) {
    if (!section.begin_event(small_record_bytes)) continue;
    std::array<unsigned char, 3 * encoding::max_varint_bytes> fields;
    unsigned char* end = encoding::put_varint(fields.data(), one.path);
    end = encoding::put_varint(end, one.owner);
    end = encoding::put_varint(end, one.length);
    const auto bytes = static_cast<std::size_t>(end - fields.data());
    section.context(context_.device, thread);
    section.escape(kind::length, bytes);
    section.bytes({reinterpret_cast<const char*>(fields.data()), bytes});
    is_first ? section.time() : section.same_time();
    section.commit();
    is_first = false;
  }
}

void recorder::expectation(const expectation_event& said) noexcept {
  const std::array<std::uint32_t, 9> numbers = {said.what,    said.why,   said.said_in,
                                                said.said_at, said.flags, said.owner,
                                                said.file,    said.line,  said.holder};
  std::array<unsigned char, numbers.size() * encoding::max_varint_bytes> fields;
  unsigned char* end = fields.data();
  for (const std::uint32_t number : numbers) end = encoding::put_varint(end, number);
  const auto bytes = static_cast<std::size_t>(end - fields.data());
  scope section(*this);
  if (!section.begin(small_record_bytes)) return;
  section.escape(kind::expectation, bytes);
  section.bytes({reinterpret_cast<const char*>(fields.data()), bytes});
  section.commit();
}

}  // namespace memtrace
