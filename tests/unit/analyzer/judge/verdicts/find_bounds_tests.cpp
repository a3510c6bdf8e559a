// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/bounded_growth.h"

#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

// Weights that came to a list of models that is as long as it was.
[[nodiscard]] verdicts::suspect models_in_a_list() {
  verdicts::retainer held_by;
  held_by.path = "models[…]";
  held_by.grows_in_place = true;
  verdicts::suspect made;
  made.found.shape = growth::shape::accumulating;
  made.what = attribution::category::weights;
  made.generations = 14;
  made.retained_by.push_back(held_by);
  return made;
}

[[nodiscard]] std::optional<program::doubt> doubt_of(verdicts::suspect who) {
  verdicts::findings found;
  found.verdicts.emplace_back().suspects.push_back(std::move(who));
  verdicts::find_bounds(found, trace::dictionary());
  return found.verdicts[0].suspects[0].retained_by[0].may_end;
}

}  // namespace

TEST_CASE("GIVEN models in a list WHEN they run, or take turns THEN it may end with its places") {
  auto models = models_in_a_list();
  models.modules_run = true;
  REQUIRE(doubt_of(models));
  CHECK(doubt_of(models)->kind == program::doubt_kind::places);
  models.modules_run = false;
  models.modules_take_turns = true;
  CHECK(doubt_of(models));
}

TEST_CASE("GIVEN models in a list WHEN each has been trained and stays THEN nothing is in doubt") {
  CHECK_FALSE(doubt_of(models_in_a_list()));
}
