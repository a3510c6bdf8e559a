// SPDX-License-Identifier: Apache-2.0
//
// The schedule of a program without a timetable.
#include "interpose/sight/agent/heap_scan_schedule.h"

#include <vector>

#include "tests/unit/catch.h"

using memtrace::agent::heap_scan_schedule;
using memtrace::format::census_reason;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t second = 1000 * ms;
constexpr std::uint64_t mib = 1 << 20;

struct run {
  heap_scan_schedule schedule{};
  std::uint64_t heap_scan_ns = 5 * ms;
  std::uint64_t now = 6 * second;
  std::uint64_t spent = 0;

  bool take(bool due, census_reason why) {
    if (!due) return false;
    schedule.took(why, 0, heap_scan_ns);
    now += heap_scan_ns;
    spent += heap_scan_ns;
    return true;
  }
  bool step(std::uint64_t allocated) {
    now += 20 * ms;
    return take(schedule.step(now, allocated), census_reason::step);
  }
  bool call(std::uint64_t allocated) {
    now += 20 * ms;
    return take(schedule.call(now, allocated), census_reason::interval);
  }
  // After which steps; `allocated` tells what the step of a number leaves.
  template <typename Function>
  std::vector<unsigned> steps(unsigned first, unsigned last, Function allocated) {
    std::vector<unsigned> taken;
    for (unsigned i = first; i <= last; ++i) {
      if (step(allocated(i))) taken.push_back(i);
    }
    return taken;
  }
};

std::uint64_t rising(unsigned step) {
  return 100 * mib + step * 512u;
}
std::uint64_t flat(unsigned) {
  return 100 * mib;
}

}  // namespace

TEST_CASE("a program that does not grow has no census") {
  CHECK(run().steps(1, 100'000, flat).empty());
  // Gradients and optimizer states come in the first steps.
  CHECK(run().steps(1, 1000, [](unsigned i) { return (i < 3 ? i : 3) * 100 * mib; }).empty());
}

TEST_CASE("what grows with each step is looked at after five, several times, and then no more") {
  CHECK(run().steps(1, 30, rising) == std::vector<unsigned>{5, 7, 11, 18, 30});
  CHECK(run().steps(1, 100'000, rising) == std::vector<unsigned>{5, 7, 11, 18, 30, 52, 92, 164});
}

TEST_CASE("what grows with each epoch is looked at, too") {
  const auto epochs = [](unsigned i) { return 100 * mib + i / 25 * mib; };
  const std::vector<unsigned> taken = run().steps(1, 400, epochs);
  CHECK(taken == std::vector<unsigned>{75, 125, 225, 400});
}

TEST_CASE("growth that begins late is looked at from its beginning") {
  run late;
  // A cache fills at first.
  CHECK(late.steps(1, 1000, [](unsigned i) { return 100 * mib + (i < 40 ? i : 40) * 512u; }) ==
        std::vector<unsigned>{5, 7, 11, 18, 30});
  const std::vector<unsigned> taken = late.steps(1001, 1100, rising);
  CHECK(taken.size() >= 5);
  CHECK(taken.front() <= 1004);
}

TEST_CASE("growth is seen behind batches of all sizes") {
  const auto batch = [](unsigned i) { return i * 7919u % 101u * 512u; };
  CHECK(run().steps(1, 1000, [&](unsigned i) { return rising(i) + batch(i); }).size() >= 4);
  // Sizes alone are not looked at again and again.
  CHECK(run().steps(1, 100'000, [&](unsigned i) { return flat(i) + batch(i); }).size() <= 8);
}

TEST_CASE("what fills and empties is looked at while it fills, and not for ever") {
  run epochs;
  const auto sawtooth = [](unsigned i) { return 10 * mib + i % 50 * mib; };
  const std::vector<unsigned> taken = epochs.steps(1, 100'000, sawtooth);
  CHECK(taken.size() >= 4);
  CHECK(taken.size() <= 32);
}

TEST_CASE("a census that costs much waits until it is worth it") {
  run slow{.heap_scan_ns = 100 * ms};
  const std::vector<unsigned> taken = slow.steps(1, 20'000, rising);
  CHECK(taken.size() >= 6);
  CHECK(slow.spent <= 250 * ms + slow.now / 50);
}

TEST_CASE("several ranks look after the same numbers of steps, if they look") {
  const std::vector<unsigned> milestones{5, 9, 16, 28, 50, 90};
  for (const std::uint64_t cost : {3 * ms, 100 * ms}) {
    run rank{.heap_scan_ns = cost};
    rank.schedule.begin(0, true, false);
    CHECK(rank.steps(1, 100, rising) == milestones);
  }
  run later;  // by other steps, because of its own memory
  later.schedule.begin(0, true, false);
  CHECK(later.steps(1, 100, [](unsigned i) { return i < 20 ? flat(i) : rising(i); }) ==
        std::vector<unsigned>{28, 50, 90});
  run quiet;
  quiet.schedule.begin(0, true, false);
  CHECK(quiet.steps(1, 100, flat).empty());
  for (unsigned i = 0; i < 1000; ++i) {
    REQUIRE_FALSE(quiet.call(rising(i)));
    REQUIRE_FALSE(quiet.schedule.events(1024, quiet.now, rising(i)));
  }
}

TEST_CASE("a server whose answers are kept is looked at, one that keeps none is not") {
  run server;
  std::vector<unsigned> taken;
  for (unsigned i = 1; i <= 100; ++i) {
    if (server.call(rising(i))) taken.push_back(i);
  }
  CHECK(taken == std::vector<unsigned>{5, 7, 11, 18, 30, 52, 92});
  run quiet;
  for (unsigned i = 0; i < 1000; ++i) REQUIRE_FALSE(quiet.call(flat(i)));
}

TEST_CASE("calls that belong to a step are no evaluation, many calls are") {
  run training;
  std::uint64_t left = 100 * mib;
  for (unsigned i = 0; i < 100; ++i) {
    for (unsigned part = 0; part < 3; ++part) REQUIRE_FALSE(training.call(left + part * mib));
    REQUIRE_FALSE(training.step(left));
  }
  unsigned taken = 0;
  for (unsigned i = 0; i < 60; ++i) taken += training.call(left += 512);
  CHECK(taken >= 3);
}

TEST_CASE("where neither steps nor calls are known, growth over events counts") {
  run program;
  unsigned taken = 0;
  for (unsigned i = 0; i < 400; ++i) {
    // It goes up and down, and keeps a little.
    const std::uint64_t allocated = 100 * mib + i * 512u + i % 3 * mib;
    program.now += ms;
    taken +=
        program.take(program.schedule.events(64, program.now, allocated), census_reason::interval);
  }
  CHECK(taken >= 4);
  CHECK(taken <= 8);
}

TEST_CASE("the events of a step are no growth") {
  run training;
  for (unsigned i = 0; i < 1000; ++i) {
    for (unsigned events = 0; events < 1024; events += 64) {
      REQUIRE_FALSE(training.schedule.events(64, training.now, 100 * mib + events * 512u));
    }
    REQUIRE_FALSE(training.step(100 * mib));
  }
}
