// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the escape: the program's source, and kinds of later versions.
#include <span>
#include <string>
#include <vector>

#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;
constexpr std::string_view file = "/srv/ada/train.py";

class seen final : public trace::record_visitor {
 public:
  void on_allocator(const trace::event& head, const trace::allocator_event&) override {
    times.push_back(head.time_ns);
  }
  void on_source(const trace::source_part& part) override { parts.push_back(part.offset); }

  std::vector<std::uint64_t> times;
  std::vector<std::uint64_t> parts;
};

struct reading {
  explicit reading(const trace_builder& trace)
      : bytes(trace.bytes()), source(std::as_bytes(std::span(bytes))) {
    auto opened = trace::reader::open(source);
    REQUIRE(opened);
    reader.emplace(std::move(*opened));
    facts = reader->read(found);
  }
  [[nodiscard]] const trace::source_file* of(std::string_view name) const {
    return reader->names().source_of(name);
  }
  [[nodiscard]] std::optional<std::string_view> usable(std::string_view name = file) const {
    return code::source_of(reader->names(), name);
  }
  byte_vector bytes;
  trace::memory_source source;
  std::optional<trace::reader> reader;
  seen found;
  trace::completeness facts;
};

}  // namespace

TEST_CASE("GIVEN a file in parts, and blocks between WHEN read THEN its text is whole") {
  trace_builder trace;
  const std::string text = "import torch\nkept = []\n\xff\n";
  const std::string digest(64, 'd');
  const auto bytes = text.size();
  trace.source(file, text.substr(0, 10), {0, bytes, 0, 77, digest});
  trace.segment(a, 20_MiB).end_block();
  trace.source("/srv/ada/other.py", "x = 1\n");
  trace.source(file, text.substr(10), {0, bytes, 10, 77, digest});
  const reading done(trace);
  CHECK_FALSE(done.facts.damage);
  REQUIRE(done.of(file) != nullptr);
  CHECK(done.of(file)->text == text);
  CHECK(done.of(file)->digest == digest);
  CHECK(done.of(file)->modified_ns == 77);
  CHECK(done.usable() == text);
  CHECK(done.usable("/srv/ada/other.py") == "x = 1\n");
  CHECK_FALSE(done.usable("/srv/ada/third.py"));
  CHECK(done.reader->names().sources().size() == 2);
  CHECK(done.found.parts == std::vector<std::uint64_t>{0, 0, 10});
  CHECK(done.found.times.size() == 1);
}

TEST_CASE("GIVEN an empty file WHEN read THEN its text is known to be empty") {
  trace_builder trace;
  trace.source(file, "");
  CHECK(reading(trace).usable() == "");
}

TEST_CASE(
    "GIVEN a text that cannot be trusted WHEN asked for THEN there is none, and it says why") {
  const auto state_of = [](std::string_view text, const source_numbers& more) {
    trace_builder trace;
    trace.source(file, text, more);
    const reading done(trace);
    CHECK_FALSE(done.facts.damage);
    CHECK_FALSE(done.usable());
    return done.of(file)->state();
  };
  CHECK(state_of("x = 1\n", {format::source_changed}) == trace::source_state::changed);
  CHECK(state_of("", {format::source_too_large, 600'000}) == trace::source_state::too_large);
  CHECK(state_of("", {format::source_unreadable}) == trace::source_state::unreadable);
  CHECK(state_of("x = 1\n", {0, 7}) == trace::source_state::incomplete);
  CHECK(state_of("x = 1\n", {0, 7, 1}) == trace::source_state::incomplete);
}

TEST_CASE(
    "GIVEN a part that is missing WHEN read THEN what follows is left out until it begins anew") {
  trace_builder trace;
  trace.source(file, "ab", {0, 6, 0}).source(file, "ef", {0, 6, 4});
  CHECK_FALSE(reading(trace).usable());
  CHECK(reading(trace).of(file)->text == "ab");
  trace.source(file, "uvw", {0, 6, 0}).source(file, "xyz", {0, 6, 3});
  CHECK(reading(trace).usable() == "uvwxyz");
}

TEST_CASE("GIVEN more text than a trace may have WHEN read THEN it ends there") {
  trace_builder trace;
  const std::string part(5000, 'x');
  for (unsigned i = 0; i * part.size() <= format::most_sources_bytes; ++i) {
    trace.source("/srv/" + std::to_string(i) + ".py", part).end_block();
  }
  const reading done(trace);
  REQUIRE(done.facts.damage);
  CHECK(done.facts.damage->code == trace::error_code::too_many_definitions);
}

TEST_CASE("GIVEN kinds of a later version WHEN read THEN they are skipped with their times") {
  trace_builder trace;
  trace.header.version = format::major_version | (format::minor_version + 7) << 16;
  trace.segment(a, 20_MiB);                // 1,000 ns
  trace.escaped(100, "no field of ours");  // even: untimed
  trace.escaped(101, "nor here").time();   // odd: timed
  trace.escaped(1'000'003, "").time();     // a number that no byte holds
  trace.escaped(32, "");                   // a source that says nothing
  trace.source(file, "x = 1\n");
  trace.record(format::kind::alloc, a, 512);
  const reading done(trace);
  CHECK_FALSE(done.facts.damage);
  CHECK(done.usable() == "x = 1\n");
  REQUIRE(done.found.times.size() == 2);
  CHECK(done.found.times[1] - done.found.times[0] == 3 * trace_builder::step_ns);
  CHECK(done.facts.events == 4);
}

TEST_CASE(
    "GIVEN fields of a later version at the end of a source WHEN read THEN they are skipped") {
  trace_builder trace;
  byte_vector payload;
  for (const auto number :
       {trace.text(file), std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{2}}) {
    put_unsigned(payload, number);
  }
  put_text(payload, "digest");
  put_unsigned(payload, 0);
  put_text(payload, "ab");
  put_text(payload, "a field of 1.9");
  trace.escaped(32, {reinterpret_cast<const char*>(payload.data()), payload.size()});
  CHECK(reading(trace).usable() == "ab");
}

TEST_CASE("GIVEN a trace of version 1.0 WHEN read THEN it is as it was, without sources") {
  trace_builder trace;
  trace.header.version = 1;
  trace.segment(a, 20_MiB).alloc(a, 512);
  const reading done(trace);
  CHECK_FALSE(done.facts.damage);
  CHECK(done.found.times.size() == 2);
  CHECK(done.reader->names().sources().empty());
  CHECK_FALSE(done.usable());
}
