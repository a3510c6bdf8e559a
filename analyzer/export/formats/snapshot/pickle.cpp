// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/pickle.h"

#include <bit>
#include <limits>

#include "analyzer/model/snapshot/opcodes.h"

namespace memtrace::exporting::pickle {

namespace {

using memtrace::snapshot::opcode;

constexpr unsigned char protocol = 4;

void add(std::string& to, unsigned char byte) {
  to.push_back(static_cast<char>(byte));
}

void add(std::string& to, opcode what) {
  add(to, static_cast<unsigned char>(what));
}

// Little endian.
void add(std::string& to, opcode what, std::uint64_t value, unsigned bytes) {
  add(to, what);
  for (unsigned i = 0; i < bytes; ++i) add(to, static_cast<unsigned char>(value >> (8 * i)));
}

}  // namespace

void begin(std::string& to) {
  add(to, opcode::proto);
  add(to, protocol);
}
void end(std::string& to) {
  add(to, opcode::stop);
}

void none(std::string& to) {
  add(to, opcode::none);
}
void boolean(std::string& to, bool value) {
  add(to, value ? opcode::newtrue : opcode::newfalse);
}

void integer(std::string& to, std::uint64_t value) {
  if (value <= 0xff) return add(to, opcode::binint1, value, 1);
  if (value <= 0xffff) return add(to, opcode::binint2, value, 2);
  // A four-byte one has a sign, and so has a long one: its highest bit must be 0.
  if (value <= std::numeric_limits<std::int32_t>::max()) return add(to, opcode::binint, value, 4);
  const auto bytes = static_cast<unsigned>(std::bit_width(value)) / 8 + 1;
  add(to, opcode::long1);
  add(to, static_cast<unsigned char>(bytes));
  for (unsigned i = 0; i < bytes; ++i) {
    add(to, i < 8 ? static_cast<unsigned char>(value >> (8 * i)) : 0);
  }
}

void minus_one(std::string& to) {
  add(to, opcode::binint, 0xffffffff, 4);
}

void real(std::string& to, double value) {
  add(to, opcode::binfloat);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 7; i >= 0; --i) add(to, static_cast<unsigned char>(bits >> (8 * i)));
}

void text(std::string& to, std::string_view utf8) {
  const auto short_enough = utf8.size() <= 0xff;
  add(to, short_enough ? opcode::short_binunicode : opcode::binunicode, utf8.size(),
      short_enough ? 1 : 4);
  to.append(utf8);
}

void store(std::string& to, memo under) {
  under <= 0xff ? add(to, opcode::binput, under, 1) : add(to, opcode::long_binput, under, 4);
}
void get(std::string& to, memo stored) {
  stored <= 0xff ? add(to, opcode::binget, stored, 1) : add(to, opcode::long_binget, stored, 4);
}

void dict(std::string& to) {
  add(to, opcode::empty_dict);
}
void list(std::string& to) {
  add(to, opcode::empty_list);
}
void mark(std::string& to) {
  add(to, opcode::mark);
}
void set_item(std::string& to) {
  add(to, opcode::setitem);
}
void set_items(std::string& to) {
  add(to, opcode::setitems);
}
void append(std::string& to) {
  add(to, opcode::append);
}
void appends(std::string& to) {
  add(to, opcode::appends);
}
void pair(std::string& to) {
  add(to, opcode::tuple2);
}

}  // namespace memtrace::exporting::pickle
