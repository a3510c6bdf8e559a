// SPDX-License-Identifier: Apache-2.0
//
// The facts in the mangled name of a PyTorch kernel: where its arguments hold what it writes,
// and for a few operations on small tensors what it computes. Facts of PyTorch's own kernel
// templates (ATen/native/cuda/CUDALoops.cuh, Reduce.cuh); a name that does not match means nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::simulator::kernel_names {

enum class layout : std::uint8_t {
  unknown,
  arguments,      // `written` are pointers to what is not const; `structures` hold who knows what
  flat,           // (int count, functor, array of pointers, …): out first; contiguous
  strided,        // (int count, functor): the first device address in the functor is out
  concatenation,  // (out, sources, …): see kernel_effects.cpp
  reduction,      // (functor): two device addresses in a row in it are source and out
};

enum class operation : std::uint8_t {
  none,
  fill,
  copy,
  add,  // of integers; the functor begins with the scalar, if it has one, and a factor
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  bitwise_not,
  logical_not,
  equality,    // the functor holds which: 0 equal, 1 not equal
  comparison,  // the functor holds which: 0 ≥, 1 >, 2 ≤, 3 <
  sum,
  maximum,
  minimum,
  any,
  all
};

// Where the functor's own value is used instead of an input.
enum class scalar_side : std::uint8_t { none, left, right };

// Element types by the letters of the C++ name mangling; other types by size only.
struct element {
  char letter = 0;  // b a h s t i j l m f d, or 0
  std::size_t bytes = 0;
};

struct description {
  layout form = layout::unknown;
  operation what = operation::none;
  scalar_side scalar = scalar_side::none;
  element input;
  element output;
  bool casts = false;             // the arguments say which types are in memory
  std::vector<unsigned> written;  // positions of arguments
  std::vector<unsigned> structures;
  unsigned slots = 0;  // of a concatenation: places for sources
};

[[nodiscard]] description describe(const char* mangled);

}  // namespace memtrace::simulator::kernel_names
