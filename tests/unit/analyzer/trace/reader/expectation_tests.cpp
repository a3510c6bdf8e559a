// SPDX-License-Identifier: Apache-2.0
//
// What the program expects to grow, as the trace has it.
#include <span>
#include <vector>

#include "analyzer/judge/verdicts/expectations.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

class counted final : public trace::record_visitor {
 public:
  void on_expectation(const trace::expected_growth& said) override {
    lines.push_back(said.said_at);
  }
  std::vector<std::uint32_t> lines;
};

struct reading {
  explicit reading(const trace_builder& trace)
      : bytes(trace.bytes()), source(std::as_bytes(std::span(bytes))) {
    auto opened = trace::reader::open(source);
    REQUIRE(opened);
    reader.emplace(std::move(*opened));
    facts = reader->read(found);
    said = verdicts::said_by_program(reader->names());
  }
  byte_vector bytes;
  trace::memory_source source;
  std::optional<trace::reader> reader;
  counted found;
  trace::completeness facts;
  std::vector<verdicts::expectation> said;
};

constexpr std::uint64_t object = format::expectation_object;

}  // namespace

TEST_CASE("GIVEN patterns and objects WHEN read THEN all are there, and own no time") {
  trace_builder trace;
  trace.expectation("self.outputs", "plotted", "/srv/train.py", 12);
  trace.segment(0x7f0000000000, 20_MiB).end_block();
  trace.expectation(
      "trainer.cache", "fills with the data set", "/srv/train.py", 20,
      {object | format::expectation_tensor, "global of __main__", "/srv/train.py", 0, "Trainer"});
  const reading done(trace);
  CHECK_FALSE(done.facts.damage);
  CHECK(done.facts.events == 1);
  CHECK(done.found.lines == std::vector<std::uint32_t>{12, 20});
  REQUIRE(done.said.size() == 2);
  CHECK(done.said[0].what == "self.outputs");
  CHECK(done.said[0].why == "plotted");
  CHECK(done.said[0].file == "/srv/train.py");
  CHECK(done.said[0].line == 12);
  CHECK(done.said[0].by == verdicts::said_by::program);
  CHECK_FALSE(done.said[0].of_objects);
  REQUIRE(done.said[1].objects.size() == 1);
  const auto& named = done.said[1].objects.front();
  CHECK(named.path == "trainer.cache");
  CHECK(named.owner == "global of __main__");
  CHECK(named.file == "/srv/train.py");
  CHECK(named.holder == "Trainer");
  CHECK(named.is_tensor);
}

TEST_CASE("GIVEN several objects of one place THEN they are one expectation") {
  trace_builder trace;
  trace.expectation("list", "why", "/srv/a.py", 3, {object | format::expectation_nameless});
  trace.expectation("one", "why", "/srv/a.py", 3, {object, "local of f", "/srv/a.py", 1});
  trace.expectation("other", "why", "/srv/a.py", 3, {object, "local of f", "/srv/a.py", 1});
  trace.expectation("one", "another reason", "/srv/a.py", 3, {object, "local of f"});
  trace.expectation("one", "why", "/srv/a.py", 4, {object, "local of f"});
  trace.expectation("one", "why", "/srv/a.py", 3);  // a pattern
  const reading done(trace);
  REQUIRE(done.said.size() == 4);
  CHECK(done.said[0].what == "one");
  CHECK(done.said[0].objects.size() == 2);
}

TEST_CASE("GIVEN fields of a later version behind the known ones THEN they are passed over") {
  trace_builder trace;
  const auto what = trace.text("x");
  trace.escaped_numbers(34, {what, 0, 0, 5, 0, 0, 0, 0, 0, 77, 78});
  trace.expectation("y", "", "", 6);
  const reading done(trace);
  CHECK_FALSE(done.facts.damage);
  REQUIRE(done.said.size() == 2);
  CHECK(done.said[0].what == "x");
  CHECK(done.said[1].line == 6);
}

TEST_CASE("GIVEN a text that is not defined THEN the trace is damaged there") {
  trace_builder trace;
  trace.expectation("x", "", "", 1);
  trace.escaped_numbers(34, {99, 0, 0, 5, 0, 0, 0, 0, 0});
  const reading done(trace);
  CHECK(done.facts.damage);
  CHECK(done.said.size() == 1);
}

TEST_CASE("GIVEN more of them than a recorder writes THEN the trace is damaged, and not endless") {
  trace_builder trace;
  const auto what = trace.text("x");
  for (unsigned i = 0; i <= format::most_expectations; ++i) {
    trace.escaped_numbers(34, {what, 0, 0, i, 0, 0, 0, 0, 0});
    if (i % 100 == 99) trace.end_block();
  }
  const reading done(trace);
  CHECK(done.facts.damage);
  CHECK(done.reader->names().expectations().size() == format::most_expectations);
}
