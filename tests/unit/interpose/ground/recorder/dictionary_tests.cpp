// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

TEST_CASE("equal stacks have one id, and share their outer frames") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  const std::vector<stack_frame> inner{{"model.py", "forward", 12}, {"train.py", "main", 3}};
  const std::vector<stack_frame> other{{"model.py", "forward", 13}, {"train.py", "main", 3}};
  const stack_id first = recording->intern(inner);
  const stack_id second = recording->intern(other);
  CHECK(first != second);
  CHECK(recording->intern(inner) == first);
  CHECK(recording->intern({}) == 0);
  const std::string path = recording->path();
  recording->finish();

  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  using numbers = std::vector<std::uint64_t>;
  const auto frames = trace.of(kind::frame);
  const auto stacks = trace.of(kind::stack);
  const auto texts = trace.of(kind::text);
  REQUIRE(frames.size() == 3);
  REQUIRE(stacks.size() == 3);
  CHECK(stacks[0].values == numbers{0, 1});
  CHECK(stacks[1].values == numbers{1, 2});
  CHECK(stacks[2].values == numbers{1, 3});
  CHECK(first == 2);
  CHECK(second == 3);
  CHECK(texts[frames[0].values[0] - 1].texts[0] == "train.py");
  CHECK(texts[frames[1].values[0] - 1].texts[0] == "model.py");
  CHECK(texts[frames[1].values[1] - 1].texts[0] == "forward");
  CHECK(frames[1].values[2] == 12);
}

TEST_CASE("a definition always stands before its use, across slots") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  const std::string long_name(5000, 'x');
  for (unsigned i = 0; i < 200; ++i) {
    const std::string name = long_name + std::to_string(i);
    auto event = allocation(512, 512);
    event.stack = recording->intern(std::vector<stack_frame>{{name, "f", i + 1}});
    REQUIRE(event.stack == i + 1);
    recording->allocator(event);
  }
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.block_sequences.size() > 5);
  std::size_t stacks = 0;
  for (const auto& record : trace.records) {
    if (record.kind == kind::stack) ++stacks;
    if (record.kind == kind::alloc) CHECK(record.values[1] == stacks);
  }
}

TEST_CASE("texts longer than the format allows are cut") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  const std::string endless(100'000, 'y');
  CHECK(recording->intern(std::vector<stack_frame>{{endless, "f", 1}}) != 0);
  recording->message(false, endless);
  recording->info(endless, endless);
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.of(kind::text)[0].texts[0].size() == format::max_text_bytes);
  CHECK(trace.of(kind::message)[0].texts[0].size() == format::max_text_bytes);
}

TEST_CASE("no two recorders of a process have the same generation") {
  const temporary_folder folder;
  auto first = make_recorder(folder);
  auto second = make_recorder(folder);
  CHECK(first->generation() != second->generation());
  CHECK(first->generation() != 0);
}
