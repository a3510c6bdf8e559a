// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/encoding.h"

#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace::encoding;

namespace {

std::vector<unsigned> encoded(unsigned char* (*put)(unsigned char*, std::uint64_t) noexcept,
                              std::uint64_t value) {
  unsigned char buffer[16];
  unsigned char* const end = put(buffer, value);
  return {buffer, end};
}

}  // namespace

TEST_CASE("numbers are LEB128 of at most 10 bytes") {
  CHECK(encoded(&put_varint, 0) == std::vector<unsigned>{0x00});
  CHECK(encoded(&put_varint, 127) == std::vector<unsigned>{0x7f});
  CHECK(encoded(&put_varint, 128) == std::vector<unsigned>{0x80, 0x01});
  CHECK(encoded(&put_varint, 1024) == std::vector<unsigned>{0x80, 0x08});
  CHECK(encoded(&put_varint, ~std::uint64_t{0}) ==
        std::vector<unsigned>{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
}

TEST_CASE("differences are small when they are near zero, on either side") {
  CHECK(encoded(&put_signed, 0) == std::vector<unsigned>{0x00});
  CHECK(encoded(&put_signed, ~std::uint64_t{0}) == std::vector<unsigned>{0x01});
  CHECK(encoded(&put_signed, 1) == std::vector<unsigned>{0x02});
  CHECK(encoded(&put_signed, std::uint64_t{0} - 64) == std::vector<unsigned>{0x7f});
  CHECK(encoded(&put_signed, 64) == std::vector<unsigned>{0x80, 0x01});
}

TEST_CASE("the worked example of the format: the address of its alloc record") {
  CHECK(encoded(&put_signed, 0x7f0000000000) ==
        std::vector<unsigned>{0x80, 0x80, 0x80, 0x80, 0x80, 0xc0, 0x3f});
  CHECK(make_tag(memtrace::format::kind::alloc, 0) == 0x08);
}

TEST_CASE("a text has its length in front") {
  unsigned char buffer[16];
  unsigned char* const end = put_text(buffer, "abc");
  CHECK(std::vector<unsigned>(buffer, end) == std::vector<unsigned>{3, 'a', 'b', 'c'});
}
