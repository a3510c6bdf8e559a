// SPDX-License-Identifier: Apache-2.0
//
// Opcodes of Python's pickle format (protocols 2 to 5), by their names in pickletools. Those that a
// snapshot is made of are read here, and written by export/snapshot; those that look up or call
// something are refused by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace memtrace::snapshot {

enum class opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  binfloat = 'G',
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  none = 'N',
  binunicode = 'X',
  append = 'a',
  appends = 'e',
  binget = 'h',
  long_binget = 'j',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  setitems = 'u',
  tuple = 't',
  empty_tuple = ')',
  empty_list = ']',
  empty_dict = '}',
  proto = 0x80,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  memoize = 0x94,
  frame = 0x95,
};

struct refused_opcode {
  std::uint8_t code;
  std::string_view name;
};
// They look up, make or call what the file names.
inline constexpr std::array calling_opcodes = {
    refused_opcode{'c', "GLOBAL"},
    refused_opcode{0x93, "STACK_GLOBAL"},
    refused_opcode{'R', "REDUCE"},
    refused_opcode{'b', "BUILD"},
    refused_opcode{'i', "INST"},
    refused_opcode{'o', "OBJ"},
    refused_opcode{0x81, "NEWOBJ"},
    refused_opcode{0x92, "NEWOBJ_EX"},
    refused_opcode{0x82, "EXT1"},
    refused_opcode{0x83, "EXT2"},
    refused_opcode{0x84, "EXT4"},
    refused_opcode{'P', "PERSID"},
    refused_opcode{'Q', "BINPERSID"},
    refused_opcode{0x97, "NEXT_BUFFER"},
    refused_opcode{0x98, "READONLY_BUFFER"},
};

}  // namespace memtrace::snapshot
