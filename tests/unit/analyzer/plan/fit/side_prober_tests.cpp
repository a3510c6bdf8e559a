// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/side_prober.h"

#include <atomic>

#include "analyzer/plan/fit/search.h"
#include "tests/unit/analyzer/plan/fit/made_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

// May be called by several threads.
class counting_prober final : public fit::prober {
 public:
  [[nodiscard]] fit::probe run(const fit::trial& wanted) override {
    ++runs;
    made_prober one([](made_requests& to, std::uint64_t batch, const std::string&) {
      train(to, batch, 20_MiB, 260'000, 4096);
    });
    return one.run(wanted);
  }
  std::atomic<std::uint64_t> runs = 0;
};

[[nodiscard]] fit::boundary find(fit::prober& runs) {
  fit::laws known;
  return fit::find_boundary({gpu_of("made", 3_GiB), {}, 0, {1, 3000, 0}}, known, runs,
                            [] { return true; });
}

}  // namespace

TEST_CASE("What is expected is run once, beside what is asked for, and the answer is the same") {
  counting_prober alone;
  const auto truth = find(alone);
  counting_prober several;
  {
    fit::side_prober side(several, 2);
    const auto found = find(side);
    CHECK(found.largest == truth.largest);
    CHECK(found.refused == truth.refused);
    CHECK(found.runs == truth.runs);
  }
  CHECK(several.runs == alone.runs);
}

TEST_CASE("With one job nothing is run that nobody asks for") {
  counting_prober runs;
  fit::side_prober side(runs, 1);
  side.expect({{"made", 3_GiB, 1, {}, 0}, {"made", 3_GiB, 2, {}, 0}});
  static_cast<void>(side.run({"made", 3_GiB, 1, {}, 0}));
  CHECK(runs.runs == 1);
}
