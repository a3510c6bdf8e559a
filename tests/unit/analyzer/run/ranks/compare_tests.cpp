// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/ranks/find_ranks.h"

#include <limits>

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

constexpr ranks::tolerance bytes{10, 0.01};

[[nodiscard]] std::vector<ranks::outlier> outliers_of(const std::vector<double>& values,
                                                      ranks::tolerance allowed = bytes) {
  return ranks::outliers(values, allowed);
}

}  // namespace

TEST_CASE("GIVEN ranks that are alike but for one WHEN compared THEN it is named, with its due") {
  const auto found = outliers_of({1000, 1000, 1500, 1000});
  REQUIRE(found.size() == 1);
  CHECK(found[0].index == 2);
  CHECK(found[0].value == 1500);
  CHECK(found[0].usual == 1000);
  CHECK(found[0].distance == 0);
}

TEST_CASE("GIVEN a spread among ranks WHEN one is far out of it THEN it is named by its z-score") {
  // Median 1003; distances from it 3, 1, 1, 3, 997 and 3, their median 3.
  const auto found = outliers_of({1000, 1002, 1004, 1006, 2000, 1000});
  REQUIRE(found.size() == 1);
  CHECK(found[0].index == 4);
  CHECK(found[0].usual == 1003);
  CHECK_THAT(found[0].distance, Catch::Matchers::WithinRel(0.6745 * 997 / 3, 1e-9));
}

TEST_CASE("GIVEN differences within the tolerance WHEN compared THEN nobody differs") {
  CHECK(outliers_of({1000, 1000, 1010, 1000}).empty());
  CHECK(outliers_of({100'000, 100'000, 100'999, 100'000}).empty());
  CHECK(outliers_of({0, 0, 0}).empty());
}

TEST_CASE("GIVEN stages of a pipeline that all differ WHEN compared THEN nobody is unusual") {
  CHECK(outliers_of({1000, 2000, 3000, 4000}).empty());
  CHECK(outliers_of({1000, 1000, 4000, 4000}).empty());
}

TEST_CASE("GIVEN two ranks that differ WHEN compared THEN the higher one is named") {
  const auto found = outliers_of({1500, 1000});
  REQUIRE(found.size() == 1);
  CHECK(found[0].index == 0);
  CHECK(found[0].usual == 1000);
}

TEST_CASE("GIVEN several that differ WHEN compared THEN the farthest comes first") {
  const auto found = outliers_of({1000, 500, 1000, 4000, 1000, 1000, 1000, 1000});
  REQUIRE(found.size() == 2);
  CHECK(found[0].index == 3);
  CHECK(found[1].index == 1);
}

TEST_CASE("GIVEN one rank or none, or numbers that are none WHEN compared THEN nothing happens") {
  CHECK(outliers_of({}).empty());
  CHECK(outliers_of({7}).empty());
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(outliers_of({none, none, none}).size() <= 3);
}
