// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/held_path.h"

#include <vector>

#include "tests/unit/catch.h"

using memtrace::verdicts::growth_of;
using memtrace::verdicts::path_point;

namespace {

[[nodiscard]] auto growth(const std::vector<std::uint64_t>& bytes) {
  std::vector<path_point> points;
  for (std::size_t i = 0; i < bytes.size(); ++i) points.push_back({10.0 * double(i), bytes[i]});
  return growth_of(points);
}

}  // namespace

TEST_CASE("GIVEN growth over two intervals up to the last census THEN it is a leak") {
  CHECK(growth({100, 200, 300}).leaks());
  CHECK(growth({100, 200, 300}).bytes_per_step == 10);
  CHECK(growth({0, 0, 100, 200}).leaks());
  CHECK(growth({0, 0, 100, 200}).bytes_per_step == 10);
}

TEST_CASE("GIVEN growth once, or long ago THEN it is none") {
  CHECK(!growth({}).leaks());
  CHECK(!growth({100}).leaks());
  CHECK(!growth({100, 200}).leaks());
  CHECK(!growth({100, 200, 300, 0}).leaks());
  CHECK(!growth({300, 300, 300}).leaks());
  CHECK(!growth({300, 200, 100}).leaks());
  CHECK(!growth({100, 300, 300, 300}).leaks());
}

TEST_CASE("GIVEN a list that is emptied now and then THEN the rate is that of the last rise") {
  const auto found = growth({100, 200, 300, 0, 100, 200, 300, 400});
  CHECK(found.leaks());
  CHECK(found.bytes_per_step == 10);
  CHECK(found.rises == 4);
}

TEST_CASE("GIVEN a small fall within a rise THEN it is still one rise") {
  const auto found = growth({100, 300, 290, 500});
  CHECK(found.leaks());
  CHECK(found.bytes_per_step > 13.3);
  CHECK(found.bytes_per_step < 13.4);
}
