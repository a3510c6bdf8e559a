// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/names.h"

#include <string>
#include <thread>
#include <vector>

#include "tests/unit/support/recorders.h"

using memtrace::format::kind;
namespace names = memtrace::names;
using namespace memtrace::test;

TEST_CASE("a name is kept once, and is a copy") {
  std::string text = "forward";
  const names::name* const first = names::intern(text);
  text = "another";
  REQUIRE(first != nullptr);
  CHECK(first->text == "forward");
  CHECK(names::intern("forward") == first);
  CHECK(names::intern("another") != first);
}

TEST_CASE("of a long name the beginning counts") {
  const std::string text(names::max_bytes + 1, 'x');
  const names::name* const cut = names::intern(text);
  CHECK(cut->text.size() == names::max_bytes);
  CHECK(names::intern(text.substr(1)) == cut);
}

TEST_CASE("threads that make up names at once find each other's") {
  constexpr int threads = 4;
  constexpr int each = 2000;
  std::vector<std::thread> running;
  std::vector<std::vector<std::string_view>> seen(threads);
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&seen, t] {
      for (int i = 0; i < each; ++i) {
        seen[t].push_back(names::intern("shared " + std::to_string(i))->text);
      }
    });
  }
  for (auto& thread : running) thread.join();
  for (const auto& texts : seen) {
    for (int i = 0; i < each; ++i) CHECK(texts[i] == "shared " + std::to_string(i));
  }
}

TEST_CASE("each recording has a text id of its own for a name") {
  const temporary_folder folder;
  const names::name* const name = names::intern("in two recordings");
  for (int run = 0; run < 2; ++run) {
    auto to = make_recorder(folder);
    CHECK(to->text_id("taken " + std::to_string(run)) != 0);
    const std::uint32_t id = names::text_id(*to, name);
    CHECK(names::text_id(*to, name) == id);
    CHECK(names::text_id(*to, nullptr) == 0);
    const std::string path = to->path();
    to->finish();
    const auto texts = decode_trace(path).of(kind::text);
    REQUIRE(texts.size() >= id);
    CHECK(texts[id - 1].texts == std::vector<std::string>{"in two recordings"});
  }
}
