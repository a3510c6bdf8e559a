// SPDX-License-Identifier: Apache-2.0
//
// The following reader beside the recorder itself, in this process and in one that is killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/find_traces.h"
#include "analyzer/trace/reader/followed_file.h"
#include "tests/unit/analyzer/trace/reader/followed.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

// Definitions as they come in training, and enough events for many blocks of the smallest shape.
void record_some(recorder& to, std::uint64_t from, std::uint64_t count) {
  for (auto i = from; i < from + count; ++i) {
    auto event = allocation(0x7f0000000000 + i * 7919 % 100'000 * 512, 512 + i % 100);
    to.allocator(event);
    to.report({.address = event.address, .block_bytes = 1024, .allocated = i, .reserved = 2 * i});
    if (i % 10 == 0) to.message(false, "step " + std::to_string(i));
    if (i % 3 == 0) (void)to.text_id("layer." + std::to_string(i));
  }
}

[[nodiscard]] std::string only_trace_in(const std::string& folder) {
  const auto found = trace::traces_in(folder);
  REQUIRE(found.size() == 1);
  return found[0];
}

[[nodiscard]] trace::slots_are slots_of(trace::followed_file& file) {
  file.look_again();
  return file.has_shared_head() ? trace::slots_are::current : trace::slots_are::copies;
}

[[nodiscard]] trace::writer_state writer_of(const trace::followed_file& file, follower& following) {
  const auto& header = following.reader().header();
  return file.writer(header.process_id, header.start_realtime_ns);
}

void check_equals_finished(const std::string& path, follower& following) {
  auto source = trace::file_source::open(path);
  REQUIRE(source);
  const auto whole = read_whole(*source);
  CHECK(whole.facts.events > 0);
  const auto facts = following.reader().facts();
  CHECK(facts.events == whole.facts.events);
  CHECK(facts.clean_exit == whole.facts.clean_exit);
  CHECK(facts.truncated == whole.facts.truncated);
  CHECK(facts.end_time_ns == whole.facts.end_time_ns);
  CHECK((following.finish() == whole.records));
}

// Polls as fast as it can while another thread records, to the end.
void check_while_recording(const temporary_folder& folder) {
  auto made = make_recorder(folder);
  const auto path = only_trace_in(folder.path());
  auto file = trace::followed_file::open(path);
  REQUIRE(file);
  follower following(**file);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> polls{0};
  std::thread program([&] {
    for (std::uint64_t part = 0; part < 100; ++part) {
      const auto before = polls.load();
      record_some(*made, part * 300, 300);
      // Polls fall between these parts and into them.
      while (part % 2 == 0 && polls < before + 2) std::this_thread::yield();
    }
    (void)made->finish();
    done = true;
  });
  std::size_t polls_with_news = 0;
  std::uint64_t before = 0;
  bool was_another = false;
  for (; !done; ++polls) {
    (void)following.poll(slots_of(**file));
    const auto events = following.reader().facts().events;
    was_another = was_another || following.reader().is_another();
    polls_with_news += events > before ? 1 : 0;
    before = events;
  }
  CHECK_FALSE(was_another);
  program.join();
  (void)following.poll(trace::slots_are::current);
  CHECK(polls_with_news > 10);
  check_equals_finished(path, following);
}

}  // namespace

TEST_CASE("GIVEN a recorder at work WHEN followed THEN each record comes once, as in its file") {
  const temporary_folder folder;
  check_while_recording(folder);
}

TEST_CASE("GIVEN a recorder that was killed WHEN followed to the end THEN its head is read too") {
  for (const int milliseconds : {3, 17, 40}) {
    CAPTURE(milliseconds);
    const temporary_folder folder;
    int records[2] = {-1, -1};  // a byte when it does
    REQUIRE(pipe(records) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(60);  // whatever becomes of the test
      int error = 0;
      const auto made =
          recorder::create({.directory = folder.path(), .program = "train", .shape = small_shape},
                           fake_clock(), error);
      // Bounded, as whoever follows may be slow; it stays until it is killed.
      for (std::uint64_t i = 0; made != nullptr && i < 20'000; i += 100) {
        record_some(*made, i, 100);
        if (i == 0 && write(records[1], "r", 1) != 1) break;
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
      pause();
      _exit(1);
    }
    char ready = 0;
    close(records[1]);
    REQUIRE(read(records[0], &ready, 1) == 1);
    close(records[0]);
    const auto path = only_trace_in(folder.path());
    auto file = trace::followed_file::open(path);
    REQUIRE(file);
    follower following(**file);
    CHECK(writer_of(**file, following) == trace::writer_state::lives);
    for (int i = 0; i < milliseconds; ++i) {
      (void)following.poll(slots_of(**file));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    // Its last call of the kernel may still be on its way, with the process's memory.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (writer_of(**file, following) == trace::writer_state::lives) {
      REQUIRE(std::chrono::steady_clock::now() < until);
      std::this_thread::yield();
    }
    (*file)->look_again();
    (void)following.poll(trace::slots_are::current);
    CHECK_FALSE(following.reader().facts().clean_exit);
    check_equals_finished(path, following);
  }
}

TEST_CASE("GIVEN a trace of a living program WHEN followed THEN neither it nor its head changes") {
  const temporary_folder folder;
  auto made = make_recorder(folder);
  record_some(*made, 0, 1000);
  const auto path = only_trace_in(folder.path());
  auto file = trace::followed_file::open(path);
  REQUIRE(file);
  REQUIRE((*file)->has_shared_head());
  follower following(**file);
  (void)following.poll();
  // The writer's lock is as it was: nobody else gets it, and the head keeps its name.
  CHECK(writer_of(**file, following) == trace::writer_state::lives);
  CHECK(writer_of(**file, following) == trace::writer_state::lives);
  auto again = trace::followed_file::open(path);
  REQUIRE(again);
  CHECK((*again)->has_shared_head());
  CHECK(following.reader().facts().events == 1100);
  (void)made->finish();
  (void)following.poll();
  check_equals_finished(path, following);
}
