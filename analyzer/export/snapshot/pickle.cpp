// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/snapshot/pickle.h"

#include <bit>
#include <limits>

namespace memtrace::exporting::pickle {

namespace {

enum opcode : unsigned char {
  op_mark = '(',
  op_stop = '.',
  op_real = 'G',
  op_int4 = 'J',
  op_int1 = 'K',
  op_int2 = 'M',
  op_none = 'N',
  op_text4 = 'X',
  op_list = ']',
  op_append = 'a',
  op_appends = 'e',
  op_get1 = 'h',
  op_get4 = 'j',
  op_store1 = 'q',
  op_store4 = 'r',
  op_set_item = 's',
  op_set_items = 'u',
  op_dict = '}',
  op_protocol = 0x80,
  op_pair = 0x86,
  op_true = 0x88,
  op_false = 0x89,
  op_long1 = 0x8a,
  op_text1 = 0x8c,
};

constexpr unsigned char protocol = 4;

void add(std::string& to, unsigned char byte) {
  to.push_back(static_cast<char>(byte));
}

// Little endian.
void add(std::string& to, unsigned char opcode, std::uint64_t value, unsigned bytes) {
  add(to, opcode);
  for (unsigned i = 0; i < bytes; ++i) add(to, static_cast<unsigned char>(value >> (8 * i)));
}

}  // namespace

void begin(std::string& to) {
  add(to, op_protocol);
  add(to, protocol);
}
void end(std::string& to) {
  add(to, op_stop);
}

void none(std::string& to) {
  add(to, op_none);
}
void boolean(std::string& to, bool value) {
  add(to, value ? op_true : op_false);
}

void integer(std::string& to, std::uint64_t value) {
  if (value <= 0xff) return add(to, op_int1, value, 1);
  if (value <= 0xffff) return add(to, op_int2, value, 2);
  // A four-byte one has a sign, and so has a long one: its highest bit must be 0.
  if (value <= std::numeric_limits<std::int32_t>::max()) return add(to, op_int4, value, 4);
  const auto bytes = static_cast<unsigned>(std::bit_width(value)) / 8 + 1;
  add(to, op_long1);
  add(to, static_cast<unsigned char>(bytes));
  for (unsigned i = 0; i < bytes; ++i) {
    add(to, i < 8 ? static_cast<unsigned char>(value >> (8 * i)) : 0);
  }
}

void minus_one(std::string& to) {
  add(to, op_int4, 0xffffffff, 4);
}

void real(std::string& to, double value) {
  add(to, op_real);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 7; i >= 0; --i) add(to, static_cast<unsigned char>(bits >> (8 * i)));
}

void text(std::string& to, std::string_view utf8) {
  const auto short_enough = utf8.size() <= 0xff;
  add(to, short_enough ? op_text1 : op_text4, utf8.size(), short_enough ? 1 : 4);
  to.append(utf8);
}

void store(std::string& to, memo under) {
  under <= 0xff ? add(to, op_store1, under, 1) : add(to, op_store4, under, 4);
}
void get(std::string& to, memo stored) {
  stored <= 0xff ? add(to, op_get1, stored, 1) : add(to, op_get4, stored, 4);
}

void dict(std::string& to) {
  add(to, op_dict);
}
void list(std::string& to) {
  add(to, op_list);
}
void mark(std::string& to) {
  add(to, op_mark);
}
void set_item(std::string& to) {
  add(to, op_set_item);
}
void set_items(std::string& to) {
  add(to, op_set_items);
}
void append(std::string& to) {
  add(to, op_append);
}
void appends(std::string& to) {
  add(to, op_appends);
}
void pair(std::string& to) {
  add(to, op_pair);
}

}  // namespace memtrace::exporting::pickle
