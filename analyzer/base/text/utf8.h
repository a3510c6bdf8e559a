// SPDX-License-Identifier: Apache-2.0
//
// Text that came from the traced program or a command line, made safe for JSON and for a terminal.
// The texts of a trace are repaired where it is read (trace/).
#pragma once

#include <string>
#include <string_view>

namespace memtrace::text {

// Appends the text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// The same text with every byte that is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// The same as a view: of the text where it is valid, else of `room`, where it is repaired.
[[nodiscard]] std::string_view repaired(std::string_view text, std::string& room);

// For a terminal: valid UTF-8 in which control characters, escapes included, are shown as '?'.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace memtrace::text
