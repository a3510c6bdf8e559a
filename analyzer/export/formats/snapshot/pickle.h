// SPDX-License-Identifier: Apache-2.0
//
// The few opcodes of Python's pickle format of which a memory snapshot consists. PyTorch's viewer
// reads them in JavaScript and knows no others: no sets, no bytes, no opcode of protocol 5, and no
// POP, so that whatever is made must be put somewhere. Each function appends to a text.
//
//   pickle::dict(out); pickle::mark(out);
//   pickle::text(out, "size"); pickle::integer(out, 512);
//   pickle::set_items(out);                                   {"size": 512}
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace memtrace::exporting::pickle {

// A number under which a value was stored, to be got again.
using memo = std::uint32_t;

// Longer ones overflow the stack of the viewer's JavaScript engine.
inline constexpr std::size_t most_appended = 1000;

void begin(std::string& to);
void end(std::string& to);

void none(std::string& to);
void boolean(std::string& to, bool value);
void integer(std::string& to, std::uint64_t value);
void minus_one(std::string& to);
void real(std::string& to, double value);
void text(std::string& to, std::string_view utf8);

void store(std::string& to, memo under);  // what was made last
void get(std::string& to, memo stored);

void dict(std::string& to);
void list(std::string& to);
void mark(std::string& to);
void set_item(std::string& to);   // dict, key, value
void set_items(std::string& to);  // dict, mark, key, value, key, value, …
void append(std::string& to);     // list, value
void appends(std::string& to);    // list, mark, value, value, …: at most `most_appended`
void pair(std::string& to);       // of the last two

}  // namespace memtrace::exporting::pickle
