// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/heap_scan_schedule.h"

#include <vector>

#include "tests/unit/catch.h"

using memtrace::agent::heap_scan_schedule;
using memtrace::format::census_reason;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t second = 1000 * ms;

heap_scan_schedule with_timetable() {
  heap_scan_schedule made;
  made.begin(0, false, true);
  return made;
}

// A program whose first step comes six seconds after it was started.
struct run {
  heap_scan_schedule schedule = with_timetable();
  std::uint64_t now = 6 * second;
  std::uint64_t allocated = 1 << 20;
  std::uint64_t growth = 512;  // a step
  std::uint64_t step_ns = 20 * ms;
  std::uint64_t heap_scan_ns = 30 * ms;
  std::uint64_t spent = 0;

  void take(census_reason why) {
    schedule.took(why, allocated, heap_scan_ns);
    now += heap_scan_ns;
    spent += heap_scan_ns;
  }
  bool step() {
    now += step_ns;
    allocated += growth;
    if (!schedule.step(now, allocated)) return false;
    take(census_reason::step);
    return true;
  }
  bool call() {
    now += step_ns;
    allocated += growth;
    if (!schedule.call(now, allocated)) return false;
    take(census_reason::interval);
    return true;
  }
  // After which steps.
  std::vector<unsigned> steps(unsigned count) {
    std::vector<unsigned> taken;
    for (unsigned i = 1; i <= count; ++i) {
      if (step()) taken.push_back(i);
    }
    return taken;
  }
  std::vector<unsigned> calls(unsigned count) {
    std::vector<unsigned> taken;
    for (unsigned i = 1; i <= count; ++i) {
      if (call()) taken.push_back(i);
    }
    return taken;
  }
};

}  // namespace

TEST_CASE("a short run has censuses from its beginning to near its end") {
  CHECK(run().steps(12) == std::vector<unsigned>{2, 5, 9});
  CHECK(run().steps(30) == std::vector<unsigned>{2, 5, 9, 16, 28});
  CHECK(run().steps(60) == std::vector<unsigned>{2, 5, 9, 16, 28, 50});
  CHECK(run().steps(100) == std::vector<unsigned>{2, 5, 9, 16, 28, 50, 90});
}

TEST_CASE("none is free whatever it costs") {
  run slow{.heap_scan_ns = 100 * ms};
  CHECK(slow.steps(40) == std::vector<unsigned>{2, 5});
  run slower{.heap_scan_ns = 250 * ms};
  CHECK(slower.steps(40) == std::vector<unsigned>{2});
}

TEST_CASE("several ranks take censuses after the same numbers of steps, whatever time and memory") {
  const std::vector<unsigned> same{2, 5, 9, 16, 28, 50, 90};
  for (const std::uint64_t cost : {3 * ms, 100 * ms}) {
    for (const std::uint64_t growth : {0u, 512u}) {
      run rank{.growth = growth, .heap_scan_ns = cost};
      rank.schedule.begin(0, true, true);
      CHECK(rank.steps(100) == same);
      CHECK_FALSE(rank.schedule.high_water(rank.now + second));
      CHECK(rank.calls(1000).empty());
      CHECK_FALSE(rank.schedule.events(1 << 20, rank.now, rank.allocated));
    }
  }
}

TEST_CASE("what begins to grow late has censuses from there on") {
  run late{.growth = 0};
  CHECK(late.steps(55) == std::vector<unsigned>{2, 5, 9, 16, 28, 50});
  late.growth = 512;
  // Four new peaks are none by chance; after them as from the beginning: 2, 5, 9, …
  CHECK(late.steps(45) == std::vector<unsigned>{6, 9, 13, 20, 32});
  // That does not happen again and again.
  for (unsigned i = 0; i < 20; ++i) {
    late.growth = 0;
    (void)late.steps(1000);
    late.growth = 512;
    (void)late.steps(100);
  }
  CHECK(static_cast<double>(late.spent) < 1.0e9 + 0.02 * static_cast<double>(late.now));
}

TEST_CASE("batches of all sizes are no growth that begins") {
  run varying{.growth = 0};
  std::vector<unsigned> taken;
  for (unsigned i = 1; i <= 100; ++i) {
    varying.allocated = (1 << 20) + (i * 7919u % 101u) * 512;
    if (varying.step()) taken.push_back(i);
  }
  CHECK(taken == std::vector<unsigned>{2, 5, 9, 16, 28, 50, 90});
}

TEST_CASE("what was too expensive stays due") {
  run slow{.heap_scan_ns = 250 * ms};
  (void)slow.steps(40);
  // 2 % of the time pay for two heap scans of 250 ms after 25 s.
  slow.now = 24 * second;
  CHECK_FALSE(slow.step());
  slow.now = 26 * second;
  CHECK(slow.step());
  CHECK_FALSE(slow.step());
}

TEST_CASE("a long run spends less than 0.3 % on censuses, and has one near its end") {
  for (const std::uint64_t cost : {3 * ms, 30 * ms, 250 * ms}) {
    run long_run{.heap_scan_ns = cost};
    const std::vector<unsigned> taken = long_run.steps(500'000);
    CHECK(static_cast<double>(long_run.spent) < 0.003 * static_cast<double>(long_run.now));
    CHECK(taken.back() > 430'000);
    CHECK(taken.size() > 20);
    CHECK(taken.size() < 300);
  }
}

TEST_CASE("while memory does not change only milestones are taken") {
  run steady{.growth = 0};
  const std::vector<unsigned> taken = steady.steps(100'000);
  CHECK(taken.size() < 24);
  run growing;
  CHECK(growing.steps(100'000).size() > taken.size() + 10);
}

TEST_CASE("calls that belong to a step are no interval") {
  run accumulating;  // of gradients
  unsigned intervals = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    for (unsigned gradient_accumulation = 0; gradient_accumulation < 3; ++gradient_accumulation)
      intervals += accumulating.call();
    (void)accumulating.step();
  }
  CHECK(intervals == 0);
}

TEST_CASE("an evaluation has censuses of its own, however much the training has spent") {
  run program;
  for (unsigned i = 0; i < 5000; ++i) {
    (void)program.call();
    (void)program.step();
  }
  CHECK(program.calls(40) == std::vector<unsigned>{6, 10, 14, 18, 22, 26, 30, 32, 36});
  // Another one, after more training.
  for (unsigned i = 0; i < 5000; ++i) {
    (void)program.call();
    (void)program.step();
  }
  CHECK(program.calls(40).size() >= 4);
}

TEST_CASE("evaluations without end do not cost more than their share") {
  run program;
  for (unsigned epoch = 0; epoch < 2000; ++epoch) {
    for (unsigned i = 0; i < 50; ++i) {
      (void)program.call();
      (void)program.step();
    }
    (void)program.calls(50);
  }
  CHECK(static_cast<double>(program.spent) < 0.005 * static_cast<double>(program.now));
}

TEST_CASE("a server without steps has censuses") {
  run server;
  const std::vector<unsigned> taken = server.calls(100'000);
  CHECK(taken.front() == 4);
  CHECK(taken.back() > 80'000);
}

TEST_CASE("where neither steps nor calls are known, events count") {
  run program;
  unsigned taken = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    program.now += ms;
    program.allocated += 512;
    if (!program.schedule.events(64, program.now, program.allocated)) continue;
    program.take(census_reason::interval);
    ++taken;
  }
  CHECK(taken >= 4);
}

TEST_CASE("the events of a step are no interval") {
  run training;
  unsigned taken = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    for (unsigned events = 0; events < 1024; events += 64) {
      if (i == 0) break;  // of the first step nobody knows how many are usual
      training.now += ms;
      if (!training.schedule.events(64, training.now, training.allocated)) continue;
      training.take(census_reason::interval);
      ++taken;
    }
    (void)training.step();
  }
  CHECK(taken <= 3);
}

TEST_CASE("peaks and failures have their own share") {
  run climbing;
  unsigned taken = 0;
  while (climbing.now < 60 * second) {
    climbing.now += 100 * ms;
    if (!climbing.schedule.high_water(climbing.now)) continue;
    climbing.take(census_reason::high_water);
    ++taken;
  }
  CHECK(taken >= 10);
  CHECK(climbing.spent <= climbing.now / 100);
  CHECK(climbing.steps(20) == std::vector<unsigned>{2, 5, 9, 13, 16});

  run failing{.heap_scan_ns = 250 * ms};
  unsigned failures = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    failing.now += 10 * ms;
    if (!failing.schedule.out_of_memory(failing.now)) continue;
    failing.take(census_reason::out_of_memory);
    ++failures;
  }
  CHECK(failures == 1);
}
