// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/program_records.h"

#include "tests/unit/catch.h"

using namespace memtrace;

TEST_CASE("GIVEN a counter WHEN set THEN its last, least and greatest value are kept") {
  trace::dictionary names;
  (void)names.define_text("loss");
  (void)names.define_text("tokens");
  run::program_counters seen(names);
  for (const double value : {0.5, -2.0, 0.25}) seen.on_counter({}, {trace::text_id{1}, value});
  seen.on_counter({}, {trace::text_id{2}, 7});
  REQUIRE(seen.found().size() == 2);
  const auto& loss = seen.found()[0];
  CHECK(loss.name == "loss");
  CHECK(loss.times == 3);
  CHECK(loss.last == 0.25);
  CHECK(loss.least == -2);
  CHECK(loss.most == 0.5);
  CHECK(seen.found()[1].least == 7);
}

TEST_CASE(
    "GIVEN samples of the recorder's own WHEN read THEN they are no counters of the program") {
  trace::dictionary names;
  (void)names.define_text("memtrace.host.rss");
  (void)names.define_text("memtrace");
  run::program_counters seen(names);
  seen.on_counter({}, {trace::text_id{1}, 1});
  seen.on_counter({}, {trace::text_id{2}, 2});
  REQUIRE(seen.found().size() == 1);
  CHECK(seen.found()[0].name == "memtrace");
}
