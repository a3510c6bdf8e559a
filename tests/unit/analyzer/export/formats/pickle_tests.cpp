// SPDX-License-Identifier: Apache-2.0
//
// Each opcode byte by byte, as Python's pickletools documents it.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "analyzer/export/formats/snapshot/pickle_file.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/text_destination.h"
#include "tests/unit/support/unpickle.h"

using namespace memtrace;
using namespace memtrace::exporting;
using namespace std::string_view_literals;

namespace {

template <class Make>
[[nodiscard]] std::string made(const Make& make) {
  std::string bytes;
  make(bytes);
  return bytes;
}

[[nodiscard]] std::string integer(std::uint64_t value) {
  return made([&](std::string& to) { pickle::integer(to, value); });
}

}  // namespace

TEST_CASE("integers take the shortest form that keeps them positive") {
  CHECK(integer(0) == "K\x00"sv);
  CHECK(integer(255) == "K\xff"sv);
  CHECK(integer(256) == "M\x00\x01"sv);
  CHECK(integer(0xffff) == "M\xff\xff"sv);
  CHECK(integer(0x10000) == "J\x00\x00\x01\x00"sv);
  CHECK(integer(0x7fffffff) == "J\xff\xff\xff\x7f"sv);
  CHECK(integer(0x80000000) == "\x8a\x05\x00\x00\x00\x80\x00"sv);
  CHECK(integer(0x7f1234567890) == "\x8a\x06\x90\x78\x56\x34\x12\x7f"sv);
  CHECK(integer(0xff1234567890) == "\x8a\x07\x90\x78\x56\x34\x12\xff\x00"sv);
  CHECK(integer(std::numeric_limits<std::uint64_t>::max()) ==
        "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"sv);
}

TEST_CASE("texts and stored values have a short and a long form") {
  CHECK(made([](std::string& to) { pickle::text(to, "abc"); }) ==
        "\x8c\x03"
        "abc"sv);
  const std::string long_text(256, 'x');
  CHECK(made([&](std::string& to) { pickle::text(to, long_text); }) ==
        std::string("X\x00\x01\x00\x00"sv) + long_text);
  CHECK(made([](std::string& to) { pickle::store(to, 255); }) == "q\xff"sv);
  CHECK(made([](std::string& to) { pickle::store(to, 256); }) == "r\x00\x01\x00\x00"sv);
  CHECK(made([](std::string& to) { pickle::get(to, 255); }) == "h\xff"sv);
  CHECK(made([](std::string& to) { pickle::get(to, 70'000); }) == "j\x70\x11\x01\x00"sv);
  CHECK(made([](std::string& to) { pickle::real(to, 1.0); }) ==
        "G\x3f\xf0\x00\x00\x00\x00\x00\x00"sv);
  CHECK(made([](std::string& to) { pickle::minus_one(to); }) == "J\xff\xff\xff\xff"sv);
}

TEST_CASE("a file grows its lists in turn and holds only what it was told to hold") {
  test::text_destination to;
  pickle_file file(to);
  const auto first = file.define([](std::string& text) { pickle::list(text); });
  const auto second = file.define([](std::string& text) { pickle::list(text); });
  const auto shared = file.define_text("a word");
  for (unsigned i = 0; i < 3; ++i) {
    file.extend(first, integer(i));
    file.extend(second, made([&](std::string& text) { pickle::get(text, shared); }));
  }
  file.set(word::device_traces, [&](std::string& text) {
    list_maker made(text);
    for (const auto list : {first, second}) {
      made.next();
      pickle::get(text, list);
    }
  });
  file.end();
  const auto expected =
      nlohmann::json::parse(R"({"device_traces": [[0, 1, 2], ["a word", "a word", "a word"]]})");
  CHECK(test::unpickled(to.written) == expected);
}

TEST_CASE("a list is appended to in portions of at most a thousand") {
  std::string bytes;
  pickle::begin(bytes);
  {
    list_maker list(bytes);
    for (unsigned i = 0; i < 2001; ++i) {
      list.next();
      pickle::integer(bytes, i);
    }
  }
  pickle::end(bytes);
  const auto found = test::unpickled(bytes);  // which refuses larger portions
  REQUIRE(found.size() == 2001);
  CHECK(found[2000] == 2000);
}
