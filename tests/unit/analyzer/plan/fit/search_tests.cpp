// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/search.h"

#include "tests/unit/analyzer/plan/fit/made_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

const auto always = [] { return true; };

[[nodiscard]] fit::boundary find(fit::prober& runs, const fit::gpu_choice& gpu, fit::laws& known,
                                 std::uint64_t most = 3000, std::uint64_t step = 1) {
  return fit::find_boundary({gpu, {}, 0, {step, most, 0}}, known, runs, always);
}

void usual(made_requests& to, std::uint64_t batch, const std::string&) {
  train(to, batch, 20_MiB, 260'000, 4096);
}

}  // namespace

TEST_CASE("The largest batch is the one that brute force finds, on every GPU, in few runs") {
  made_prober truth(usual);
  made_prober runs(usual);
  fit::laws known;
  bool first = true;
  for (const auto gigabytes : {2, 3, 5, 8, 12}) {
    const auto gpu = gpu_of("made", static_cast<std::uint64_t>(gigabytes) * 1_GiB + 7_MiB);
    const auto found = find(runs, gpu, known);
    CAPTURE(gigabytes, found.tried, found.predicted);
    CHECK(found.verified);
    CHECK(found.largest == truth.by_brute_force(gpu, 3000));
    CHECK(found.refused == found.largest + 1);
    CHECK(found.runs <= (first ? 4 : 2));
    REQUIRE(found.fitted);
    CHECK(found.fitted->of.batch == found.largest);
    first = false;
  }
}

TEST_CASE("A peak that small batches do not move is no sign that the batch is ignored") {
  const auto heavy = [](made_requests& to, std::uint64_t batch, const std::string&) {
    train(to, batch, 20_MiB, 26'000, 4096);
    to.free(to.allocate(1_GiB));  // as an optimizer's temporaries
  };
  made_prober truth(heavy);
  made_prober runs(heavy);
  fit::laws known;
  const auto gpu = gpu_of("made", 2_GiB);
  const auto found = find(runs, gpu, known, 10'000);
  CAPTURE(found.why, found.tried);
  CHECK(found.verified);
  CHECK(found.largest == truth.by_brute_force(gpu, 4'000));
  CHECK(found.runs <= 4);
}

TEST_CASE("A workspace that shrinks with the batch hides nothing of what larger batches need") {
  const auto shrinks = [](made_requests& to, std::uint64_t batch, const std::string&) {
    to.free(to.allocate(batch < 8 ? 8_GiB - batch * 900_MiB : 1_MiB));
    train(to, batch, 20_MiB, 260'000, 4096);
  };
  made_prober truth(shrinks);
  made_prober runs(shrinks);
  fit::laws known;
  const auto gpu = gpu_of("made", 5_GiB);
  const auto found = find(runs, gpu, known);
  CAPTURE(found.tried);
  CHECK(found.verified);
  CHECK(found.largest == truth.by_brute_force(gpu, 3000));
  CHECK(found.runs <= 12);
}

TEST_CASE("Sizes that jump where a kernel is chosen otherwise cost runs and not the answer") {
  const auto jumps = [](made_requests& to, std::uint64_t batch, const std::string&) {
    train(to, batch, 20_MiB, 260'000, batch >= 100 ? 64_MiB : 4096);
  };
  made_prober truth(jumps);
  made_prober runs(jumps);
  for (const auto gigabytes : {3, 5, 8}) {
    fit::laws known;
    const auto gpu = gpu_of("made", static_cast<std::uint64_t>(gigabytes) * 1_GiB);
    const auto found = find(runs, gpu, known);
    CAPTURE(gigabytes, found.tried);
    CHECK(found.verified);
    CHECK(found.largest == truth.by_brute_force(gpu, 3000));
    CHECK(found.runs <= 12);
  }
}

TEST_CASE("A program whose number of requests hangs on the batch is fitted by its capacities") {
  const auto chunks = [](made_requests& to, std::uint64_t batch, const std::string&) {
    to.allocate(100_MiB);
    for (std::uint64_t item = 0; item < batch; ++item) to.allocate(5_MiB + 4096);
  };
  made_prober truth(chunks);
  made_prober runs(chunks);
  fit::laws known;
  const auto gpu = gpu_of("made", 4_GiB);
  const auto found = find(runs, gpu, known, 1000);
  CHECK(known.of(86).kind() == fit::law_kind::capacities);
  CHECK(found.verified);
  CHECK(found.largest == truth.by_brute_force(gpu, 1000));
}

TEST_CASE("A GPU of another architecture that needs more gets a law of its own") {
  const auto by_model = [](made_requests& to, std::uint64_t batch, const std::string& model) {
    train(to, batch, 20_MiB, model == "old" ? 390'000 : 260'000, 4096);
  };
  made_prober truth(by_model);
  made_prober runs(by_model);
  fit::laws known;
  const auto fresh = gpu_of("new", 8_GiB, 90);
  const auto old = gpu_of("old", 8_GiB, 70);
  CHECK(find(runs, fresh, known).largest == truth.by_brute_force(fresh, 3000));
  const auto found = find(runs, old, known);
  CHECK(found.largest == truth.by_brute_force(old, 3000));
  CHECK(found.runs <= 6);
  CHECK(known.has_own(70));
}

TEST_CASE("No batch fits, every batch fits, and batches come in multiples") {
  made_prober runs(usual);
  fit::laws known;
  const auto none = find(runs, gpu_of("tiny", 512_MiB), known);
  CHECK(none.verified);
  CHECK(none.largest == 0);
  CHECK(none.refused == 1);

  const auto all = find(runs, gpu_of("huge", 64_GiB), known, 100);
  CHECK(all.verified);
  CHECK(all.all_fit);
  CHECK(all.largest == 100);
  CHECK_FALSE(all.refused);

  made_prober truth(usual);
  const auto gpu = gpu_of("made", 5_GiB);
  const auto best = truth.by_brute_force(gpu, 3000);
  const auto eights = find(runs, gpu, known, 3000, 8);
  CHECK(eights.largest == best / 8 * 8);
  CHECK(eights.refused == best / 8 * 8 + 8);
}

TEST_CASE("A program that takes no notice of the batch, or uses no GPU, is told apart") {
  made_prober deaf([](made_requests& to, std::uint64_t, const std::string&) {
    train(to, 8, 20_MiB, 260'000, 4096);
  });
  fit::laws known;
  const auto found = find(deaf, gpu_of("made", 8_GiB), known);
  CHECK_FALSE(found.verified);
  CHECK(found.why.find("same memory at batch") != std::string::npos);

  made_prober idle([](made_requests&, std::uint64_t, const std::string&) {});
  fit::laws nothing;
  const auto unused = find(idle, gpu_of("made", 8_GiB), nothing);
  CHECK_FALSE(unused.verified);
  CHECK(unused.why.find("allocates nothing") != std::string::npos);
}

TEST_CASE("When the budget is used up, the bracket that is known is told, and not as verified") {
  made_prober runs(usual);
  fit::laws known;
  int left = 3;
  const auto gpu = gpu_of("made", 8_GiB);
  const auto found =
      fit::find_boundary({gpu, {}, 0, {1, 3000, 0}}, known, runs, [&] { return left-- > 0; });
  CHECK_FALSE(found.verified);
  CHECK(found.runs == 3);
  CHECK(found.largest > 0);
  CHECK_FALSE(found.why.empty());
}
