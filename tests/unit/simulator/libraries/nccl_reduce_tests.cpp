// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/nccl_reduce.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "simulator/libraries/nccl_types.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator::nccl;

namespace {

template <typename Value>
std::vector<Value> combined(std::vector<Value> into, const std::vector<Value>& from, int type,
                            int operation) {
  REQUIRE(combine(std::as_writable_bytes(std::span(into)), std::as_bytes(std::span(from)), type,
                  operation));
  finish(std::as_writable_bytes(std::span(into)), type, operation, 2);
  return into;
}

using longs = std::vector<std::int64_t>;
using floats = std::vector<float>;
using halves = std::vector<std::uint16_t>;

}  // namespace

TEST_CASE("integers are combined with their signs") {
  const longs one{1, -2, 3};
  const longs other{-4, 5, 6};
  REQUIRE(combined(one, other, int64, sum) == longs{-3, 3, 9});
  REQUIRE(combined(one, other, int64, product) == longs{-4, -10, 18});
  REQUIRE(combined(one, other, int64, maximum) == longs{1, 5, 6});
  REQUIRE(combined(one, other, int64, minimum) == longs{-4, -2, 3});
  REQUIRE(combined(one, other, int64, average) == longs{-1, 1, 4});
}

TEST_CASE("bytes wrap around") {
  using bytes = std::vector<std::uint8_t>;
  REQUIRE(combined(bytes{200}, bytes{100}, uint8, sum) == bytes{44});
  REQUIRE(combined(bytes{200}, bytes{100}, uint8, maximum) == bytes{200});
}

TEST_CASE("floats are combined") {
  REQUIRE(combined(floats{0.5F, -1}, floats{0.25F, 3}, float32, sum) == floats{0.75F, 2});
  REQUIRE(combined(floats{0.5F, -1}, floats{0.25F, 3}, float32, average) == floats{0.375F, 1});
}

TEST_CASE("16-bit floats are combined in their own encodings") {
  // IEEE 754: half 1.5 is 0x3e00, 2.25 is 0x4080, 3.75 is 0x4380; bfloat16 the high half of a
  // float.
  REQUIRE(combined(halves{0x3e00}, halves{0x4080}, float16, sum) == halves{0x4380});
  REQUIRE(combined(halves{0x3fc0}, halves{0x4010}, bfloat16, sum) == halves{0x4070});
}

TEST_CASE("halves convert as IEEE 754 says") {
  REQUIRE(half_to_float(0x0001) == std::ldexp(1.0F, -24));  // smallest subnormal
  REQUIRE(half_to_float(0x7bff) == 65504.0F);               // largest
  REQUIRE(std::isinf(half_to_float(0xfc00)));
  REQUIRE(std::isnan(half_to_float(0x7e01)));
  REQUIRE(float_to_half(65519.0F) == 0x7bff);
  REQUIRE(float_to_half(65520.0F) == 0x7c00);
  REQUIRE(float_to_half(std::ldexp(1.0F, -25)) == 0);  // half-way to even
  REQUIRE(float_to_half(1.5F * std::ldexp(1.0F, -25)) == 1);
  REQUIRE(float_to_half(2047.0F * std::ldexp(1.0F, -25)) == 0x0400);  // rounds up to normal
}

TEST_CASE("every half survives the way to float and back") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<unsigned short>(bits);
    if (std::isnan(half_to_float(half))) continue;
    REQUIRE(float_to_half(half_to_float(half)) == half);
  }
}

TEST_CASE("8-bit floats have no arithmetic here") {
  std::vector<std::byte> one(1);
  REQUIRE_FALSE(combine(one, one, float8_e4m3, sum));
}
