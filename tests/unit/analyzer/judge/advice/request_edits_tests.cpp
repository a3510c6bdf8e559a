// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/request_edits.h"

#include "tests/unit/analyzer/judge/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;
using allocator::request_edits;

namespace {

// The log in short: "a0:100 f0 …".
std::string words(const allocator::request_log& log) {
  std::string all;
  for (const auto& one : log.requests) {
    if (!all.empty()) all += ' ';
    const bool allocates = one.what() == allocator::action::allocate;
    all += allocates ? 'a' : 'f';
    all += std::to_string(one.block);
    if (allocates) all += ':' + std::to_string(one.size);
  }
  return all;
}

// a0 a1 f0 a2 f1, at events 10, 20, … 50.
allocator::request_log small_log() {
  made_up_run run;
  const auto first = run.make(category::other, 100);
  const auto second = run.make(category::other, 201);
  run.free(first);
  run.make(category::other, 300);
  run.free(second);
  return run.log();
}

}  // namespace

TEST_CASE("sizes are scaled upwards to whole bytes, again and again") {
  auto log = small_log();
  request_edits edits;
  edits.scale(1, 1, 2);
  edits.apply(log);
  CHECK(words(log) == "a0:100 a1:101 f0 a2:300 f1");
  edits.apply(log);
  CHECK(words(log) == "a0:100 a1:51 f0 a2:300 f1");
}

TEST_CASE("a block that is dropped is not asked for") {
  auto log = small_log();
  request_edits edits;
  edits.drop(0);
  edits.apply(log);
  CHECK(words(log) == "a1:201 a2:300 f1");
  CHECK(log.allocations == std::vector<std::uint32_t>{0xffffffff, 0, 1});
  CHECK(log.blocks() == 3);
}

TEST_CASE("frees move to events, but never before the block is made") {
  auto log = small_log();
  request_edits edits;
  edits.free_at(1, 40);
  edits.free_at(2, 10);
  edits.apply(log);
  CHECK(words(log) == "a0:100 a1:201 f0 f1 a2:300 f2");
}

TEST_CASE("a block that is kept lives to the end") {
  auto log = small_log();
  request_edits edits;
  edits.keep(0);
  edits.apply(log);
  CHECK(words(log) == "a0:100 a1:201 a2:300 f1");
}

TEST_CASE("further blocks come in the order of the calls, as large as what they are like") {
  auto log = small_log();
  request_edits edits;
  edits.scale(1, 2, 1);
  const auto first = edits.allocate(30, 1, 1, 3);
  const auto second = edits.allocate(30, 0);
  edits.free(second, 30);
  edits.free(first, 50);
  edits.apply(log);
  CHECK(words(log) == "a0:100 a1:402 a3:134 a4:100 f4 f0 a2:300 f3 f1");
  CHECK(log.blocks() == 5);
  CHECK(log.allocations[3] == 2);
  CHECK(log.addresses[4] != 0);
  CHECK(log.requests.size() == log.events.size());
}

TEST_CASE("changes hold for a log that was changed before") {
  auto log = small_log();
  request_edits first;
  first.free(first.allocate(20, 0), 40);
  first.apply(log);
  CHECK(words(log) == "a0:100 a3:100 a1:201 f0 f3 a2:300 f1");
  request_edits second;
  second.free_at(1, 40);
  second.scale(0, 1, 2);
  second.apply(log);
  CHECK(words(log) == "a0:50 a3:100 a1:201 f0 f1 f3 a2:300");
}

TEST_CASE("of a log that ends earlier only what is there is changed") {
  auto log = small_log();
  log.requests.shorten(3);
  log.events.shorten(3);
  request_edits edits;
  edits.free_at(2, 45);
  edits.free_at(1, 45);
  edits.free(edits.allocate(40, 2), 50);
  edits.free(edits.allocate(20, 0), 50);
  edits.scale(77, 1, 2);
  edits.apply(log);
  CHECK(words(log) == "a0:100 a3:100 a1:201 f0");
}
