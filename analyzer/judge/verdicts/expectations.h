// SPDX-License-Identifier: Apache-2.0
//
// Growth that people expect, and say so: the program by memtrace.expect_growth (record
// `expectation`), or a suppressions file:
//
//   # comments, and empty lines
//   growth: self.history      # why: plotted at the end
//   growth: *.py:31
//
// A pattern is what a report says of growth: a path that keeps memory alive, as
// `self.validation_outputs` or `Trainer.validation_outputs`, and what is in it; a line, with so much
// of its file's path as the pattern has; or a function. `*` stands for any letters, `?` for one. A
// verdict that names no line goes by its subject: host, outside:0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::verdicts {

struct retainer;

enum class said_by : std::uint8_t { program, file };
// "program", "file"
[[nodiscard]] std::string_view name_of(said_by who);

// An object that the program handed over, as a heap scan called it then.
struct expected_object {
  std::string path;  // self.history
  std::string owner;
  std::string file;  // of the owner
  std::uint32_t line = 0;
  std::string holder;  // class of the object whose attribute it is
  bool is_tensor = false;
};

struct expectation {
  said_by by = said_by::file;
  std::string
      what;  // a pattern, or the first name of the objects; their class, where none led there
  std::string why;   // may be empty
  std::string file;  // where it was said
  std::uint32_t line = 0;
  bool of_objects = false;
  std::vector<expected_object> objects;  // instead of the pattern
};

// Those of one place in the program, and of one reason, are one.
[[nodiscard]] std::vector<expectation> said_by_program(const trace::dictionary& names);

// The content of a suppressions file. Or what is wrong with its first bad line: one sentence, with
// the line's number.
struct bad_line {
  std::uint32_t line = 0;
  std::string what;
};
[[nodiscard]] std::variant<std::vector<expectation>, bad_line> parse_suppressions(
    std::string_view text, const std::string& file);

// Whether memory that grows is meant: by what keeps it, by its line, by its subject.
[[nodiscard]] bool covers(const expectation& said, const retainer& held_by);
[[nodiscard]] bool covers(const expectation& said, const std::vector<code::source_frame>& frames);
[[nodiscard]] bool covers_subject(const expectation& said, std::string_view subject);

}  // namespace memtrace::verdicts
