// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/nccl_reduce.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "simulator/libraries/nccl_types.h"

namespace memtrace::simulator::nccl {
namespace {

float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

std::uint16_t float_to_bfloat(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  bits += 0x7fff + (bits >> 16 & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

template <typename Stored, typename Value>
struct codec {
  static Value load(Stored stored) { return static_cast<Value>(stored); }
  static Stored store(Value value) { return static_cast<Stored>(value); }
};
struct half_codec {
  static float load(std::uint16_t stored) { return half_to_float(stored); }
  static std::uint16_t store(float value) { return float_to_half(value); }
};
struct bfloat_codec {
  static float load(std::uint16_t stored) { return bfloat_to_float(stored); }
  static std::uint16_t store(float value) { return float_to_bfloat(value); }
};

template <typename Value>
Value combined(Value one, Value other, int operation) {
  switch (operation) {
    case product:
      return one * other;
    case maximum:
      return std::max(one, other);
    case minimum:
      return std::min(one, other);
    default:
      return one + other;
  }
}

// Calls `action` with the value of each element and stores what it returns.
template <typename Stored, typename Codec, typename Action>
void each(std::span<std::byte> values, Action action) {
  for (std::size_t at = 0; at + sizeof(Stored) <= values.size(); at += sizeof(Stored)) {
    Stored stored;
    std::memcpy(&stored, values.data() + at, sizeof stored);
    stored = Codec::store(action(Codec::load(stored), at));
    std::memcpy(values.data() + at, &stored, sizeof stored);
  }
}

template <typename Stored, typename Codec>
bool combine_as(std::span<std::byte> into, std::span<const std::byte> from, int operation) {
  each<Stored, Codec>(into, [from, operation](auto value, std::size_t at) {
    Stored other;
    std::memcpy(&other, from.data() + at, sizeof other);
    return combined(value, Codec::load(other), operation);
  });
  return true;
}

template <typename Stored, typename Codec>
void divide_as(std::span<std::byte> values, int ranks) {
  each<Stored, Codec>(values, [ranks](auto value, std::size_t) {
    return static_cast<decltype(value)>(value / static_cast<decltype(value)>(ranks));
  });
}

// Integers are added as unsigned, which wraps around; order and division need the sign.
template <typename Signed, typename Unsigned>
bool combine_integers(std::span<std::byte> into, std::span<const std::byte> from, int operation) {
  const bool ordered = operation == maximum || operation == minimum;
  return ordered ? combine_as<Signed, codec<Signed, Signed>>(into, from, operation)
                 : combine_as<Unsigned, codec<Unsigned, std::uint64_t>>(into, from, operation);
}

}  // namespace

float half_to_float(unsigned short bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 0x1f) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
}

unsigned short float_to_half(float value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  if (std::isnan(value)) return static_cast<unsigned short>(sign | 0x7e00u);
  const float size = std::fabs(value);
  if (size >= 65520.0F) return static_cast<unsigned short>(sign | 0x7c00u);
  int exponent = 0;
  std::frexp(size, &exponent);
  // One unit of the last place: halves have 11 bits, and below 2^-14 always 2^-24.
  const int unit = std::max(exponent - 11, -24);
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, -unit)));
  if (units == 0) return static_cast<unsigned short>(sign);
  // The exponent's field is unit + 25, and `units` brings the leading bit that is not stored: hence
  // 24. Rounding up to 2^11 units carries into the exponent by itself.
  const auto exponents = static_cast<unsigned>(unit + 24);
  return static_cast<unsigned short>(sign | ((exponents << 10) + units));
}

bool combine(std::span<std::byte> into, std::span<const std::byte> from, int type, int operation) {
  switch (type) {
    case int8:
      return combine_integers<std::int8_t, std::uint8_t>(into, from, operation);
    case uint8:
      return combine_integers<std::uint8_t, std::uint8_t>(into, from, operation);
    case int32:
      return combine_integers<std::int32_t, std::uint32_t>(into, from, operation);
    case uint32:
      return combine_integers<std::uint32_t, std::uint32_t>(into, from, operation);
    case int64:
      return combine_integers<std::int64_t, std::uint64_t>(into, from, operation);
    case uint64:
      return combine_integers<std::uint64_t, std::uint64_t>(into, from, operation);
    case float16:
      return combine_as<std::uint16_t, half_codec>(into, from, operation);
    case bfloat16:
      return combine_as<std::uint16_t, bfloat_codec>(into, from, operation);
    case float32:
      return combine_as<float, codec<float, float>>(into, from, operation);
    case float64:
      return combine_as<double, codec<double, double>>(into, from, operation);
    default:
      return false;
  }
}

void finish(std::span<std::byte> values, int type, int operation, int ranks) {
  if (operation != average) return;
  switch (type) {
    case int8:
      return divide_as<std::int8_t, codec<std::int8_t, int>>(values, ranks);
    case uint8:
      return divide_as<std::uint8_t, codec<std::uint8_t, int>>(values, ranks);
    case int32:
      return divide_as<std::int32_t, codec<std::int32_t, std::int32_t>>(values, ranks);
    case uint32:
      return divide_as<std::uint32_t, codec<std::uint32_t, std::uint32_t>>(values, ranks);
    case int64:
      return divide_as<std::int64_t, codec<std::int64_t, std::int64_t>>(values, ranks);
    case uint64:
      return divide_as<std::uint64_t, codec<std::uint64_t, std::uint64_t>>(values, ranks);
    case float16:
      return divide_as<std::uint16_t, half_codec>(values, ranks);
    case bfloat16:
      return divide_as<std::uint16_t, bfloat_codec>(values, ranks);
    case float32:
      return divide_as<float, codec<float, float>>(values, ranks);
    case float64:
      return divide_as<double, codec<double, double>>(values, ranks);
    default:
      return;
  }
}

}  // namespace memtrace::simulator::nccl
