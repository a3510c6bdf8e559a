// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "simulator/core/contents.h"
#include "simulator/core/kernel_effects.h"

namespace memtrace::simulator::small_tensors {
namespace {

using kernel_effects::bound;
using kernel_names::element;
using kernel_names::operation;
using kernel_names::scalar_side;

// An element of any type: integers and truth values as integers, the others as double.
struct number {
  bool floating = false;
  std::int64_t integer = 0;
  double real = 0;
};

template <typename Value>
Value raw(const unsigned char* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

number whole(std::int64_t value) {
  return {false, value, 0};
}
number fraction(double value) {
  return {true, 0, value};
}

number load(const unsigned char* from, element type) {
  switch (type.letter) {
    case 'b':
      return whole(*from != 0);
    case 'a':
      return whole(raw<std::int8_t>(from));
    case 'h':
      return whole(raw<std::uint8_t>(from));
    case 's':
      return whole(raw<std::int16_t>(from));
    case 't':
      return whole(raw<std::uint16_t>(from));
    case 'i':
      return whole(raw<std::int32_t>(from));
    case 'j':
      return whole(raw<std::uint32_t>(from));
    case 'f':
      return fraction(raw<float>(from));
    case 'd':
      return fraction(raw<double>(from));
    default:
      return whole(raw<std::int64_t>(from));
  }
}

bool truth(const number& value) {
  return value.floating ? value.real != 0 : value.integer != 0;
}

void store(unsigned char* to, element type, const number& value) {
  const double real = value.floating ? value.real : static_cast<double>(value.integer);
  const std::int64_t integer =
      value.floating ? static_cast<std::int64_t>(value.real) : value.integer;
  if (type.letter == 'b') {
    *to = truth(value) ? 1 : 0;
  } else if (type.letter == 'f') {
    const auto narrow = static_cast<float>(real);
    std::memcpy(to, &narrow, sizeof narrow);
  } else if (type.letter == 'd') {
    std::memcpy(to, &real, sizeof real);
  } else {
    std::memcpy(to, &integer, type.bytes);  // little-endian
  }
}

// As the functor sees it: converted to the type it computes in.
number converted(const number& value, element type) {
  unsigned char bytes[8] = {};
  store(bytes, type, value);
  return load(bytes, type);
}

bool less(const number& a, const number& b) {
  return a.floating ? a.real < b.real : a.integer < b.integer;
}
bool equal(const number& a, const number& b) {
  return a.floating ? a.real == b.real : a.integer == b.integer;
}

bool compare(int which, const number& a, const number& b) {
  const bool ordered = !a.floating || (a.real == a.real && b.real == b.real);
  switch (which) {
    case 0:
      return ordered && !less(a, b);
    case 1:
      return less(b, a);
    case 2:
      return ordered && !less(b, a);
    default:
      return less(a, b);
  }
}

// Integers wrap around, and bool's sum is whether any is true.
number added(const element& type, const number& a, const number& b) {
  if (type.letter == 'b') return whole(truth(a) || truth(b));
  number result = a;
  result.real += b.real;
  result.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.integer) +
                                             static_cast<std::uint64_t>(b.integer));
  return result;
}

number apply(const bound& launch, const number& a, const number& b) {
  switch (launch.about->what) {
    case operation::bitwise_and:
      return whole(a.integer & b.integer);
    case operation::bitwise_or:
      return whole(a.integer | b.integer);
    case operation::bitwise_xor:
      return whole(a.integer ^ b.integer);
    case operation::bitwise_not:
      return whole(launch.about->input.letter == 'b' ? !a.integer : ~a.integer);
    case operation::logical_not:
      return whole(!truth(a));
    case operation::equality:
      return whole(equal(a, b) == (launch.which == 0));
    case operation::comparison:
      return whole(compare(launch.which, a, b));
    case operation::add:
    case operation::sum:
      return added(launch.about->input, a, b);
    case operation::maximum:
      return less(a, b) ? b : a;
    case operation::minimum:
      return less(b, a) ? b : a;
    case operation::any:
      return whole(truth(a) || truth(b));
    case operation::all:
      return whole(truth(a) && truth(b));
    default:
      return a;
  }
}

bool is_reduction(operation what) {
  return what == operation::sum || what == operation::maximum || what == operation::minimum ||
         what == operation::any || what == operation::all;
}

bool is_bitwise(operation what) {
  return what == operation::bitwise_and || what == operation::bitwise_or ||
         what == operation::bitwise_xor || what == operation::bitwise_not;
}

std::vector<number> read(const bound& launch, std::size_t input, bool& real) {
  const element type = launch.in_type[input];
  std::vector<unsigned char> bytes(launch.count * type.bytes);
  real &= contents::read(bytes.data(), launch.in[input], bytes.size());
  std::vector<number> result(launch.count);
  for (std::size_t i = 0; i < launch.count; ++i) {
    result[i] = converted(load(bytes.data() + i * type.bytes, type), launch.about->input);
  }
  return result;
}

std::vector<number> elementwise(const bound& launch, bool& real) {
  std::vector<number> result = read(launch, 0, real);
  const scalar_side side = launch.about->scalar;
  if (launch.inputs == 2) {
    const std::vector<number> right = read(launch, 1, real);
    for (std::size_t i = 0; i < launch.count; ++i) result[i] = apply(launch, result[i], right[i]);
    return result;
  }
  const number scalar = load(launch.scalar, launch.about->input);
  for (number& each : result) {
    each = side == scalar_side::left ? apply(launch, scalar, each) : apply(launch, each, scalar);
  }
  return result;
}

}  // namespace

bool compute(const bound& launch) {
  const operation what = launch.about->what;
  if (what == operation::fill) {
    std::uint64_t value = 0;
    std::memcpy(&value, launch.scalar, sizeof value);
    contents::fill(launch.out[0], value, launch.out_type.bytes, launch.count);
    return true;
  }
  const char letter = launch.about->input.letter;
  if (is_bitwise(what) && (letter == 'f' || letter == 'd')) return false;
  bool real = true;
  std::vector<number> result;
  if (is_reduction(what)) {
    const std::vector<number> all = read(launch, 0, real);
    number sum = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) sum = apply(launch, sum, all[i]);
    result.assign(1, sum);
  } else {
    result = elementwise(launch, real);
  }
  std::vector<unsigned char> bytes(result.size() * launch.out_type.bytes);
  for (std::size_t i = 0; i < result.size(); ++i) {
    store(bytes.data() + i * launch.out_type.bytes, launch.out_type, result[i]);
  }
  contents::result(launch.out[0], bytes.data(), bytes.size(), real);
  return true;
}

}  // namespace memtrace::simulator::small_tensors
