// SPDX-License-Identifier: Apache-2.0
//
// Strings as CPython lays them out, made by hand: object header, length, hash, state, characters.
#include "interpose/sight/python/text.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

namespace {

using namespace memtrace::python_stack;

template <typename Character>
struct made_text {
  made_text(const layout& offsets, std::vector<Character> characters, bool ascii,
            bool compact = true)
      : bytes(128 + characters.size() * sizeof(Character)), outside(std::move(characters)) {
    put(object::text_length, static_cast<std::int64_t>(outside.size()));
    const unsigned state =
        1u | sizeof(Character) << 2 | (compact ? 1u << 5 : 0) | (ascii ? 1u << 6 : 0) | 1u << 7;
    put(object::text_state, state);
    const std::size_t size = outside.size() * sizeof(Character);
    if (compact && size > 0) {
      std::memcpy(bytes.data() + (ascii ? offsets.text_ascii : offsets.text_compact),
                  outside.data(), size);
    }
    if (!compact) put(offsets.text_compact, outside.data());
  }
  template <typename T>
  void put(std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
  }
  [[nodiscard]] address at() const { return reinterpret_cast<address>(bytes.data()); }

  std::vector<unsigned char> bytes;
  std::vector<Character> outside;
};

std::string read(const layout& offsets, address text) {
  const auto arena = std::make_unique<text_arena>();
  return std::string(read_text(offsets, text, *arena));
}

}  // namespace

TEST_CASE("text of every width comes out as UTF-8") {
  for (const unsigned minor : {9u, 10u, 11u, 12u, 13u}) {
    const layout& offsets = *layout_of(3, minor);
    CHECK(read(offsets, made_text<std::uint8_t>(offsets, {'t', '.', 'p', 'y'}, true).at()) ==
          "t.py");
    CHECK(read(offsets, made_text<std::uint8_t>(offsets, {'g', 0xfc, 0xff}, false).at()) ==
          "g\u00fc\u00ff");
    CHECK(
        read(offsets, made_text<std::uint16_t>(offsets, {0x6f22, 'a', 0x7ff, 0x800}, false).at()) ==
        "\u6f22a\u07ff\u0800");
    CHECK(read(offsets, made_text<std::uint32_t>(offsets, {0x1f600, 0xe9}, false).at()) ==
          "\U0001f600\u00e9");
    CHECK(read(offsets, made_text<std::uint8_t>(offsets, {}, true).at()).empty());
  }
}

TEST_CASE("bytes that were no UTF-8 in a file name come out as those bytes") {
  const layout& offsets = *layout_of(3, 11);
  CHECK(read(offsets, made_text<std::uint16_t>(offsets, {'a', 0xdcff, 0xdc80}, false).at()) ==
        "a\xff\x80");
}

TEST_CASE("characters outside the object are followed") {
  const layout& offsets = *layout_of(3, 12);
  CHECK(read(offsets, made_text<std::uint16_t>(offsets, {'x', 0x20ac}, false, false).at()) ==
        "x\u20ac");
}

TEST_CASE("a text longer than the arena is cut") {
  const layout& offsets = *layout_of(3, 13);
  const made_text<std::uint16_t> text(offsets, std::vector<std::uint16_t>(100'000, 0x20ac), false);
  const std::string cut = read(offsets, text.at());
  CHECK(cut.size() == 32 << 10);
  CHECK(cut.substr(0, 3) == "\u20ac");
}

TEST_CASE("versions that are not known have no layout") {
  CHECK(layout_of(3, 8) == nullptr);
  CHECK(layout_of(3, 16) == nullptr);
  CHECK(layout_of(4, 11) == nullptr);
  CHECK(layout_of(2, 10) == nullptr);
}
