// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/call_arguments.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::call_arguments;

namespace {

// CUarray_format, from cuda.h.
constexpr int bytes = 0x01;
constexpr int half = 0x10;
constexpr int floats = 0x20;
constexpr int nv12 = 0xb0;              // a plane of 8 bits, and one of a quarter of it twice
constexpr int blocks_of_4_bits = 0x91;  // BC1: eight bytes for sixteen elements

struct channel_format {  // cudaChannelFormatDesc
  int x, y, z, w;
  int kind;
};

}  // namespace

TEST_CASE("elements times their size") {
  const array_2d flat{300, 200, floats, 4};
  CHECK(array_bytes<array_2d>(&flat) == 300u * 200 * 16);
  const array_2d line{1000, 0, bytes, 1};  // one dimension
  CHECK(array_bytes<array_2d>(&line) == 1000);
  const array_2d_v1 old{10, 10, half, 2};
  CHECK(array_bytes<array_2d_v1>(&old) == 400);
  const array_3d deep{16, 8, 4, bytes, 2, 0};
  CHECK(array_bytes<array_3d>(&deep) == 1024);
  const array_2d video{64, 32, nv12, 3};
  CHECK(array_bytes<array_2d>(&video) == 64u * 32 * 3 / 2);
  const array_2d compressed{64, 64, blocks_of_4_bits, 4};
  CHECK(array_bytes<array_2d>(&compressed) == 16u * 16 * 8);
}

TEST_CASE("a mipmap halves every dimension but the layers, down to one element") {
  const array_3d volume{8, 4, 2, bytes, 1, 0};
  CHECK(array_bytes<array_3d>(&volume, 2) == 8 * 4 * 2 + 4 * 2 * 1);
  CHECK(array_bytes<array_3d>(&volume, 4) == 64 + 8 + 2 + 1);
  CHECK(array_bytes<array_3d>(&volume, 4000000000u) == 64 + 8 + 2 + 1);
  const array_3d layers{8, 4, 6, bytes, 1, array_is_layered};
  CHECK(array_bytes<array_3d>(&layers, 4) == 6 * (32 + 8 + 2 + 1));
}

TEST_CASE("the runtime's formats count bits") {
  const channel_format pair{32, 32, 0, 0, 2};
  CHECK(array_bytes(&pair, cuda_extent{100, 10, 0}, 0, 1) == 8000);
  const channel_format wrong{-5, 8, 0, 0, 0};
  CHECK(array_bytes(&wrong, cuda_extent{4, 0, 0}, 0, 1) == 4);
}

TEST_CASE("what is not known takes nothing") {
  CHECK(array_bytes<array_2d>(nullptr) == 0);
  const array_2d unknown{10, 10, 0x77, 4};
  CHECK(array_bytes<array_2d>(&unknown) == 0);
  CHECK(array_bytes(nullptr, cuda_extent{10, 10, 10}, 0, 1) == 0);
}
