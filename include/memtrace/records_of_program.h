// SPDX-License-Identifier: Apache-2.0
//
// Part of memtrace/records.h, which says how fields are listed, and includes this: the records about
// the program itself, its text, its containers, and what it expects of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "memtrace/field_privacy.h"

namespace memtrace::record {

// See source_*.
template <class Ids>
struct source {
  typename Ids::text file{};
  std::uint32_t flags = 0;        // format::source_*
  std::uint64_t modified_ns = 0;  // since 1970
  std::uint64_t bytes = 0;        // of the whole text
  std::string_view digest;        // of the whole text
  std::uint64_t offset = 0;
  std::string_view text;

  static constexpr void fields(auto& io, auto& r) {
    io.text("file", text_privacy::path, r.file);
    io.number("flags", kept, r.flags);
    io.number("modified_ns", kept, r.modified_ns);
    io.number("bytes", kept, r.bytes);
    io.string("digest", string_privacy::source, r.digest);
    io.number("offset", kept, r.offset);
    io.string(elsewhere, string_privacy::source, r.text);
  }
};

template <class Ids>
struct length {
  typename Ids::text path{};
  typename Ids::text owner{};
  std::uint64_t length = 0;

  static constexpr void fields(auto& io, auto& r) {
    io.text("path", text_privacy::words, r.path);
    io.text("owner", text_privacy::words, r.owner);
    io.number("length", kept, r.length);
  }
};

// Growth that the program expects. See expectation_*.
template <class Ids>
struct expectation {
  typename Ids::text what{};
  typename Ids::text why{};
  typename Ids::text said_in{};  // file of the program that said it; empty: not known
  std::uint32_t said_at = 0;     // line in it
  std::uint32_t flags = 0;       // format::expectation_*
  // For an object only: as in the detail of the storages that a heap scan finds there.
  typename Ids::text owner{};
  typename Ids::text file{};
  std::uint32_t line = 0;
  typename Ids::text holder{};

  static constexpr void fields(auto& io, auto& r) {
    io.text("what", text_privacy::words, r.what);
    io.text("why", text_privacy::words, r.why);
    io.text("said_in", text_privacy::path, r.said_in);
    io.number("said_at", kept, r.said_at);
    io.number("flags", kept, r.flags);
    io.text("owner", text_privacy::words, r.owner);
    io.text("file", text_privacy::path, r.file);
    io.number("line", kept, r.line);
    io.text("holder", text_privacy::words, r.holder);
  }
};

}  // namespace memtrace::record
