// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "tests/unit/support/recorders.h"

#ifndef sigev_notify_thread_id  // glibc before 2.39 has no name for it
#define sigev_notify_thread_id _sigev_un._tid
#endif

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

TEST_CASE("16 threads: nothing lost, each thread's events in its own order") {
  constexpr unsigned threads = 16;
  constexpr std::uint64_t events = 5000;
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&recording, t] {
      for (std::uint64_t i = 0; i < events; ++i) {
        auto event = allocation(std::uint64_t{t} << 32 | i, i);
        event.stack = recording->intern(std::vector<stack_frame>{
            {"f.py", "t" + std::to_string(t), static_cast<unsigned>(i % 50)}});
        recording->allocator(event);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  const std::string path = recording->path();
  CHECK(recording->finish().events == threads * events);

  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.of(kind::thread).size() == threads);
  std::map<std::uint64_t, std::uint64_t> next;
  std::map<std::uint32_t, std::uint64_t> who;
  for (const auto& record : trace.of(kind::alloc)) {
    const std::uint64_t worker = record.address >> 32;
    REQUIRE((record.address & 0xffffffff) == next[worker]++);
    const auto [place, is_new] = who.emplace(record.thread, worker);
    REQUIRE(place->second == worker);
  }
  CHECK(who.size() == threads);
  CHECK(next.size() == threads);
}

TEST_CASE("threads that record while the recording ends lose only what comes after") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> told{0};
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < 4; ++t) {
    workers.emplace_back([&] {
      while (!stop) {
        recording->allocator(allocation(512, 512));
        ++told;
      }
    });
  }
  while (told < 2000) std::this_thread::yield();
  const auto summary = recording->finish();
  CHECK(summary.complete);
  const std::uint64_t at_end = told;
  while (told < at_end + 100) std::this_thread::yield();
  stop = true;
  for (auto& worker : workers) worker.join();
  const auto trace = decode_trace(recording->path());
  REQUIRE(trace.error.empty());
  CHECK(trace.of(kind::alloc).size() == summary.events);
  CHECK(trace.of(kind::alloc).size() + recording->dropped_events() == told);
}

namespace {

recorder* interrupted = nullptr;
volatile sig_atomic_t handled = 0;
void record_in_handler(int) {
  interrupted->allocator(allocation(512, 512));
  handled = handled + 1;
}

}  // namespace

TEST_CASE("a signal handler that records does not deadlock with its own thread") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  interrupted = recording.get();
  struct sigaction action {};
  action.sa_handler = &record_in_handler;
  struct sigaction before {};
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  // By a timer, which interrupts this thread wherever it is as long as it runs: another thread that
  // sends signals gives it one a time slice where both share a processor.
  sigevent how{};
  how.sigev_notify = SIGEV_THREAD_ID;
  how.sigev_signo = SIGUSR1;
  how.sigev_notify_thread_id = gettid();
  timer_t timer{};
  REQUIRE(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
  const itimerspec often{{0, 200'000}, {0, 200'000}};
  REQUIRE(timer_settime(timer, 0, &often, nullptr) == 0);
  std::uint64_t own = 0;
  while (handled < 500) {
    recording->allocator(allocation(1024, 512));
    ++own;
  }
  REQUIRE(timer_delete(timer) == 0);
  REQUIRE(sigaction(SIGUSR1, &before, nullptr) == 0);
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.timed + trace.header.dropped_events == own + static_cast<std::uint64_t>(handled));
}

TEST_CASE("a thousand threads lose nothing") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  constexpr unsigned threads = 1000;
  constexpr unsigned each = 50;
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (unsigned i = 0; i < each; ++i) recording->allocator(allocation(512, 512));
    });
  }
  for (auto& worker : workers) worker.join();
  const auto summary = recording->finish();
  CHECK(summary.complete);
  CHECK(summary.dropped_events == 0);
  const auto trace = decode_trace(recording->path());
  REQUIRE(trace.error.empty());
  CHECK(trace.of(kind::alloc).size() == threads * each);
}
