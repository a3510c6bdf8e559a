// SPDX-License-Identifier: Apache-2.0
//
// Verdicts on host memory, from samples made up here.
#include "analyzer/judge/host/judge_host.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/base/statistics/judge.h"
#include "analyzer/judge/host/grid.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::verdicts;

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t gibibyte = 1ull << 30;
constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t second = 1'000 * millisecond;

std::vector<std::uint64_t> ends(std::size_t steps, std::uint64_t apart, std::uint64_t first) {
  std::vector<std::uint64_t> made;
  for (std::size_t i = 0; i < steps; ++i) made.push_back(first + i * apart);
  return made;
}

void sample_every(std::uint64_t apart, std::uint64_t until, host::sampled_series& into,
                  const std::function<std::uint64_t(std::uint64_t)>& bytes_at) {
  for (std::uint64_t time = 0; time < until; time += apart) into.add({time, bytes_at(time)});
}

host::host_samples with_limit() {
  host::host_samples made;
  made.limit = 60 * gibibyte;
  made.limit_from = format::host::limit_source::cgroup_v2;
  made.limit_used.add({0, 40 * gibibyte});
  return made;
}

const verdict& about(const std::vector<verdict>& all, const std::string& name,
                     subject_kind kind = subject_kind::host) {
  const auto found = std::ranges::find_if(
      all, [&](const verdict& one) { return one.about.kind == kind && one.about.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("GIVEN samples between steps WHEN steps are slower THEN each end of a step has a value") {
  std::vector<host::sample> samples;
  for (std::uint64_t i = 0; i <= 40; ++i) samples.push_back({i * second, i * 1000});
  const auto step_ends = ends(13, 3 * second, second + second / 2);
  const auto on = host::grid_for(samples, step_ends);
  CHECK(on.stride == 1);
  CHECK(on.ns_per_step == 3.0 * second);
  const auto values = host::at_points(samples, on);
  REQUIRE(values.size() == 13);
  CHECK(values[0] == 1500);
  CHECK(values[1] == 4500);
}

TEST_CASE(
    "GIVEN steps faster than samples WHEN laid out THEN points are as many as the samples carry") {
  std::vector<host::sample> samples;
  for (std::uint64_t i = 0; i <= 30; ++i) samples.push_back({i * second, i});
  const auto on = host::grid_for(samples, ends(3000, 10 * millisecond, 0));
  CHECK(on.stride >= 100);
  CHECK(on.times.size() <= 31);
  CHECK(on.times.size() >= 12);
  // One gap of 10 s: no more than three points in it.
  std::erase_if(samples, [](const host::sample& one) {
    return one.time_ns > 10 * second && one.time_ns < 20 * second;
  });
  CHECK(host::grid_for(samples, ends(3000, 10 * millisecond, 0)).times.size() <= 10);
}

TEST_CASE(
    "GIVEN nothing, or samples outside of all steps WHEN laid out THEN no values are made up") {
  CHECK(host::grid_for({}, {}).times.empty());
  const std::vector<host::sample> late{{100, 1}};
  CHECK(host::grid_for(late, ends(20, 1, 0)).times.empty());
  CHECK(host::at_points({}, host::grid_for({}, ends(20, 1, 0))).empty());
  CHECK(host::judge_host({}, {}, {}).empty());
}

TEST_CASE(
    "GIVEN a process that keeps a mebibyte a step WHEN judged THEN its rate and when the limit "
    "comes") {
  auto samples = with_limit();
  sample_every(100 * millisecond, 20 * second, samples.kept,
               [](std::uint64_t time) { return gibibyte + time / (50 * millisecond) * mebibyte; });
  const auto all = host::judge_host(samples, {}, ends(390, 50 * millisecond, second / 4));
  const auto& process = about(all, "");
  CHECK(is_leak(process.found.shape));
  CHECK(process.bytes_per_step == Approx(mebibyte).epsilon(0.05));
  REQUIRE(process.steps_to_oom);
  CHECK(static_cast<double>(*process.steps_to_oom) == Approx(20 * 1024).epsilon(0.05));
  CHECK(process.summary.find("cgroup v2") != std::string::npos);
}

TEST_CASE(
    "GIVEN a process that grows before twelve steps have ended WHEN judged THEN it is left open") {
  auto samples = with_limit();
  sample_every(100 * millisecond, 20 * second, samples.kept,
               [](std::uint64_t time) { return gibibyte + time / (50 * millisecond) * mebibyte; });
  for (const std::size_t steps : {0, 1, 11}) {
    const auto all = host::judge_host(samples, {}, ends(steps, second, second / 4));
    CHECK(verdicts::answer_of(about(all, "")) == verdicts::answer::not_settled);
    CHECK_FALSE(about(all, "").steps_to_oom);
  }
  const auto all = host::judge_host(samples, {}, ends(13, second, second / 4));
  CHECK(verdicts::is_leak(about(all, "")));
}

TEST_CASE("GIVEN a heap that grows by 3 MiB in all WHEN judged THEN it is no leak") {
  auto samples = with_limit();
  sample_every(100 * millisecond, 60 * second, samples.kept,
               [](std::uint64_t time) { return gibibyte + time * 3 * mebibyte / (60 * second); });
  const auto all = host::judge_host(samples, {}, ends(1000, 60 * millisecond, 0));
  CHECK_FALSE(is_leak(about(all, "").found.shape));
}

TEST_CASE("GIVEN a start that takes 100 MiB WHEN 40 MiB follow it THEN these may be free memory") {
  const auto judged = [](std::uint64_t each) {
    auto samples = with_limit();
    sample_every(100 * millisecond, 20 * second, samples.kept, [&](std::uint64_t time) {
      const auto start = std::min(time / (second / 2), std::uint64_t{2}) * 50 * mebibyte;
      return gibibyte + start + time / second * each;
    });
    const auto all = host::judge_host(samples, {}, ends(20, second, second / 4));
    return verdicts::answer_of(about(all, ""));
  };
  CHECK(judged(2 * mebibyte) == verdicts::answer::not_settled);
  CHECK(judged(8 * mebibyte) == verdicts::answer::accumulates);
}

TEST_CASE("GIVEN tokens of one sequence WHEN the process grows by each THEN it is left open") {
  auto samples = with_limit();
  sample_every(100 * millisecond, 60 * second, samples.kept,
               [](std::uint64_t time) { return gibibyte + time * 100 * mebibyte / (60 * second); });
  const auto of = [&](std::uint64_t positions) {
    const auto all =
        host::judge_host(samples, {}, ends(200, 300 * millisecond, 0), {.positions = positions});
    return verdicts::answer_of(about(all, ""));
  };
  CHECK(of(0) == verdicts::answer::accumulates);
  CHECK(of(2048) == verdicts::answer::not_settled);
}

TEST_CASE("GIVEN growth that malloc may hold as free memory WHEN judged THEN it is left open") {
  for (const std::uint64_t whole : {20, 60, 80}) {
    auto samples = with_limit();
    sample_every(100 * millisecond, 60 * second, samples.kept, [&](std::uint64_t time) {
      return gibibyte + time * whole * mebibyte / (60 * second);
    });
    const auto all = host::judge_host(samples, {}, ends(1000, 60 * millisecond, 0));
    const auto& process = about(all, "");
    INFO(whole);
    CHECK(verdicts::is_leak(process) == (whole == 80));
    if (whole == 80) continue;
    CHECK(verdicts::answer_of(process) == verdicts::answer::not_settled);
    // At this rate there are 64 MiB after so many more steps; a tenth of the run is its start.
    const auto grown = 0.9 * static_cast<double>(whole);
    const auto more = 1000.0 * (64.0 - grown) / static_cast<double>(whole);
    CHECK(static_cast<double>(process.found.more_steps_needed) == Approx(more).epsilon(0.1));
  }
}

TEST_CASE(
    "GIVEN workers that copy what they read WHEN judged THEN that is said, and what they share at "
    "most") {
  auto samples = with_limit();
  const auto copied = [](std::uint64_t time, std::uint64_t most) {
    return 200 * mebibyte + std::min(most, time * 10 * mebibyte / second);
  };
  for (const bool ended : {false, true}) {
    samples.workers = {};
    samples.workers_kept = {};
    samples.workers_proportional = {};
    const auto most = ended ? 100 * mebibyte : gibibyte;
    sample_every(second / 2, 40 * second, samples.workers, [](std::uint64_t) { return 2; });
    sample_every(second / 2, 40 * second, samples.workers_kept,
                 [](std::uint64_t) { return gibibyte; });
    sample_every(second, 40 * second, samples.workers_proportional,
                 [&](std::uint64_t time) { return copied(time, most); });
    const auto all = host::judge_host(samples, {}, ends(400, second / 10, 0));
    const auto& workers = about(all, "workers");
    INFO(ended);
    CHECK(is_leak(workers.found.shape) == !ended);
    CHECK(workers.summary.find("copy on read") != std::string::npos);
    REQUIRE(workers.fix);
    CHECK(workers.fix->id == "copy_on_read");
    CHECK_FALSE(workers.steps_to_oom);  // what is still shared fits into the limit
  }
}

TEST_CASE("GIVEN workers that keep more WHEN judged THEN it is no copy on read") {
  auto samples = with_limit();
  const auto grows = [](std::uint64_t time) {
    return 200 * mebibyte + time * 10 * mebibyte / second;
  };
  sample_every(second / 2, 40 * second, samples.workers, [](std::uint64_t) { return 2; });
  sample_every(second / 2, 40 * second, samples.workers_kept, grows);
  // Too few walks for a verdict: what is resident decides.
  sample_every(10 * second, 40 * second, samples.workers_proportional, grows);
  const auto all = host::judge_host(samples, {}, ends(400, second / 10, 0));
  const auto& workers = about(all, "workers");
  CHECK(is_leak(workers.found.shape));
  CHECK(workers.bytes_per_step == Approx(mebibyte).epsilon(0.1));
  CHECK_FALSE(workers.fix);
}

TEST_CASE("GIVEN pinned memory that grows in every step WHEN judged THEN the call site is named") {
  std::vector<replay::pinned_change> changes;
  const replay::site_id once{7, false};
  const replay::site_id again{9, false};
  changes.push_back({1, gibibyte, static_cast<std::int64_t>(gibibyte), once});
  for (std::uint64_t step = 0; step < 40; ++step) {
    changes.push_back({(step + 1) * second + 5, gibibyte + (step + 1) * mebibyte,
                       static_cast<std::int64_t>(mebibyte), again});
  }
  const auto all = host::judge_host(with_limit(), changes, ends(40, second, second));
  const auto& pinned = about(all, "pinned");
  CHECK(is_leak(pinned.found.shape));
  CHECK(pinned.bytes_per_step == Approx(mebibyte).epsilon(0.01));
  REQUIRE(pinned.suspects.size() == 1);
  CHECK(pinned.suspects[0].stack.value == 9);
}

TEST_CASE("GIVEN a cache of pinned buffers that fills by chance WHEN judged THEN it is open") {
  for (const std::uint64_t steps : {30, 100}) {
    std::vector<replay::pinned_change> changes;
    std::uint64_t total = 0;
    for (std::uint64_t step = 0; step < steps && step < 60; step += 4) {
      total += 2 * mebibyte;
      changes.push_back({(step + 1) * second - 5, total, static_cast<std::int64_t>(2 * mebibyte),
                         replay::site_id{9, false}});
    }
    const auto all = host::judge_host(with_limit(), changes, ends(steps, second, second));
    const auto& found = about(all, "pinned");
    CHECK_FALSE(is_leak(found.found.shape));
    CHECK_FALSE(found.found.negligible);
    CHECK(found.bytes_per_step == 0);
    CHECK(found.found.bytes_per_step_high == 0);
    if (steps == 30) CHECK(found.found.more_steps_needed == 30);
    CHECK(found.found.overturned_by == growth::overturned_by(found.found));
  }
}

TEST_CASE("GIVEN memory that is pinned now and then to the end WHEN judged THEN it leaks") {
  std::vector<replay::pinned_change> changes;
  std::uint64_t total = 0;
  for (std::uint64_t step = 0; step < 200; step += 4) {
    total += 2 * mebibyte;
    changes.push_back({(step + 1) * second - 5, total, static_cast<std::int64_t>(2 * mebibyte),
                       replay::site_id{9, false}});
  }
  const auto all = host::judge_host(with_limit(), changes, ends(200, second, second));
  CHECK(is_leak(about(all, "pinned").found.shape));
}

TEST_CASE(
    "GIVEN modules that are loaded again and again WHEN judged THEN memory outside of the pool "
    "grows") {
  host::host_samples samples;
  sample_every(second / 4, 30 * second, samples.outside[1],
               [](std::uint64_t time) { return 300 * mebibyte + time / second * 8 * mebibyte; });
  const auto all = host::judge_host(samples, {}, ends(300, second / 10, 0));
  const auto& outside = about(all, "", subject_kind::outside);
  CHECK(outside.about.device == 1);
  CHECK(is_leak(outside.found.shape));
}

TEST_CASE("GIVEN a million samples WHEN kept THEN they are few, in order, and the peak is right") {
  host::sampled_series series;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) series.add({i, i == 777'777 ? 5'000'000 : i});
  CHECK(series.samples().size() <= 8192);
  CHECK(series.samples().size() >= 4096);
  CHECK(series.peak() == 5'000'000);
  CHECK(series.last() == 999'999);
  CHECK(std::ranges::is_sorted(series.samples(), {}, &host::sample::time_ns));
}

TEST_CASE("GIVEN counters of any name and value WHEN read THEN only the recorder's own count") {
  trace::dictionary names;
  for (const char* const name : {"memtrace.host.kept", "memtrace.device.1x.used", "loss",
                                 "memtrace.host.workers", "memtrace.device..used"}) {
    (void)names.define_text(name);
  }
  const replay::replayer replayed(names);
  host::host_collector seen(names, replayed);
  for (std::uint32_t id = 1; id <= 5; ++id) {
    for (const double value : {-1.0, 1e300, 5.0}) seen.on_counter({}, {trace::text_id{id}, value});
  }
  CHECK(seen.found().kept.peak() == 5);
  CHECK(seen.found().workers.peak() == 5);
  CHECK(seen.found().outside.empty());
}

namespace {

constexpr std::uint64_t seconds_of_growth = 200;

// By 2 MiB a step of a second.
[[nodiscard]] verdict growing_process(std::uint64_t looks_apart,
                                      const std::function<std::uint64_t(std::uint64_t)>& free_at,
                                      bool piles_up = true) {
  host::host_samples samples = with_limit();
  const auto kept = [](std::uint64_t time) { return gibibyte + time / second * 2 * mebibyte; };
  sample_every(second, seconds_of_growth * second, samples.kept, kept);
  sample_every(second, seconds_of_growth * second, samples.resident, kept);
  sample_every(looks_apart, seconds_of_growth * second, samples.heap_free, free_at);
  const auto step_ends = ends(seconds_of_growth, second, second + second / 2);
  return about(host::judge_host(samples, {}, step_ends, {.piles_up = piles_up}), "");
}

[[nodiscard]] verdict growing_by_heap(double free_part, bool piles_up = true) {
  const auto free_at = [&](std::uint64_t time) {
    const auto grown = static_cast<double>(time / second * 2 * mebibyte);
    return static_cast<std::uint64_t>(free_part * grown);
  };
  return growing_process(32 * second, free_at, piles_up);
}

}  // namespace

TEST_CASE(
    "GIVEN a process that grows by free memory of its heap THEN malloc is told to give it back") {
  const auto made = growing_by_heap(0.9);
  REQUIRE(made.fix);
  CHECK(made.fix->id == "free_heap");
  CHECK_THAT(made.fix->change, Catch::Contains("MALLOC_MMAP_THRESHOLD_="));
  CHECK_THAT(made.summary, Catch::Contains("90 % of that is free memory in malloc's heap"));
  CHECK(verdicts::answer_of(made) == verdicts::answer::accumulates);
  CHECK_FALSE(growing_by_heap(0.4).fix);
  CHECK_FALSE(growing_by_heap(0).fix);
}

TEST_CASE("GIVEN a process that grows in a loop that has ended THEN it is left open") {
  host::host_samples samples = with_limit();
  const auto kept = [](std::uint64_t time) { return gibibyte + time / second * 2 * mebibyte; };
  sample_every(second, seconds_of_growth * second, samples.kept, kept);
  sample_every(second, seconds_of_growth * second, samples.resident, kept);
  const auto step_ends = ends(seconds_of_growth, second, second + second / 2);
  for (const bool by_loop : {false, true}) {
    const host::known_steps known{.by_loop = by_loop};
    const auto made = about(host::judge_host(samples, {}, step_ends, known), "");
    CAPTURE(made.summary);
    CHECK(is_leak(made.found.shape) != by_loop);
    CHECK(made.steps_to_oom.has_value() != by_loop);
    CHECK((made.summary.find("2 MiB a step in a loop that has ended") != std::string::npos) ==
          by_loop);
  }
}

TEST_CASE("GIVEN growth by free memory WHEN no objects pile up on a GPU THEN it is not settled") {
  const auto made = growing_by_heap(0.9, false);
  CHECK(verdicts::answer_of(made) == verdicts::answer::not_settled);
  CHECK_FALSE(made.steps_to_oom);
  CHECK_THAT(made.summary, Catch::Contains("2 MiB a step") && Catch::Contains("free memory"));
  CHECK(verdicts::answer_of(growing_by_heap(0.4, false)) == verdicts::answer::accumulates);
}

TEST_CASE("GIVEN a heap that was left free before the first step THEN it is not what grows") {
  const auto made =
      growing_process(second, [](std::uint64_t time) { return time == 0 ? 0 : 2 * gibibyte; });
  CHECK(is_leak(made.found.shape));
  CHECK_FALSE(made.fix);
}

TEST_CASE("GIVEN looks at the heap that ended early THEN nothing is said of what came later") {
  host::host_samples samples = with_limit();
  const auto kept = [](std::uint64_t time) { return gibibyte + time / second * 2 * mebibyte; };
  sample_every(second, seconds_of_growth * second, samples.kept, kept);
  sample_every(10 * second, 40 * second, samples.heap_free,
               [](std::uint64_t time) { return time / second * 2 * mebibyte; });
  const auto step_ends = ends(seconds_of_growth, second, second + second / 2);
  CHECK_FALSE(about(host::judge_host(samples, {}, step_ends), "").fix);
}
