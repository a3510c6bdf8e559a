// SPDX-License-Identifier: Apache-2.0
//
// The records that a reader hands on, written down record by record with all names spelled out, so
// that two readings can be compared.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "analyzer/export/formats/dump.h"
#include "analyzer/trace/reader/following_reader.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_bytes.h"

namespace memtrace::test {

class transcript {
 public:
  explicit transcript(const trace::dictionary& names)
      : out_(open_memstream(&text_, &size_)), writer_(names, out_, {}) {}
  transcript(const transcript&) = delete;
  transcript& operator=(const transcript&) = delete;
  ~transcript() {
    std::fclose(out_);
    std::free(text_);
  }

  [[nodiscard]] trace::record_visitor& visitor() { return writer_; }
  // To the last record; nothing may come after it.
  [[nodiscard]] std::string finish() {
    writer_.finish();
    std::fflush(out_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* out_;
  exporting::dump_writer writer_;
};

struct whole_reading {
  std::string records;
  trace::completeness facts;
};

[[nodiscard]] inline whole_reading read_whole(trace::byte_source& source) {
  auto opened = trace::reader::open(source);
  REQUIRE(opened);
  transcript written(opened->names());
  auto facts = opened->read(written.visitor());
  return {written.finish(), std::move(facts)};
}

[[nodiscard]] inline whole_reading read_whole(const byte_vector& bytes) {
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  return read_whole(source);
}

// Bytes that a test changes between polls.
class changing_source final : public trace::byte_source {
 public:
  byte_vector bytes;
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) override {
    return trace::memory_source(std::as_bytes(std::span(bytes))).read(offset, out);
  }
  [[nodiscard]] std::uint64_t size() const override { return bytes.size(); }
};

// A reader that follows, with what it has handed on.
class follower {
 public:
  explicit follower(trace::byte_source& source) {
    auto opened = trace::following_reader::open(source);
    REQUIRE(opened);
    reader_ = std::move(*opened);
    seen_.emplace(reader_->names());
  }
  bool poll(trace::slots_are how = trace::slots_are::current, std::size_t most = 1000) {
    return reader_->poll(seen_->visitor(), most, how);
  }
  [[nodiscard]] trace::following_reader& reader() { return *reader_; }
  [[nodiscard]] std::string finish() { return seen_->finish(); }

 private:
  std::unique_ptr<trace::following_reader> reader_;
  std::optional<transcript> seen_;
};

}  // namespace memtrace::test
