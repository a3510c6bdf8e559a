// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of up to three dimensions, on a stream or waited for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "simulator/core/graphs.h"
#include "simulator/core/streams.h"

namespace memtrace::simulator {

// `depth` slices of `height` rows of `width` bytes; pitches and slices are bytes apart.
struct strided_copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t to_pitch = 0;
  std::size_t to_slice = 0;
  std::size_t from_pitch = 0;
  std::size_t from_slice = 0;
};

struct strided_fill {
  void* to = nullptr;
  std::uint32_t value = 0;
  std::size_t element = 1;  // bytes: 1, 2 or 4
  std::size_t width = 0;    // elements
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t pitch = 0;
  std::size_t slice = 0;
};

namespace copies {

[[nodiscard]] inline strided_copy linear(void* to, const void* from, std::size_t bytes) {
  strided_copy one;
  one.to = to;
  one.from = from;
  one.width = bytes;
  return one;
}

// Null stream: no such handle. `waits`: the calls without Async, which return when the copy is done
// (within a device: when it is given to the stream). Copies of pageable memory wait in part, as on
// a GPU. Errors: 400 no such stream, 1 an address that is no memory or does not match `kind`, those
// of captures.
[[nodiscard]] cudaError_t run(const strided_copy& copy, cudaMemcpyKind kind, stream* stream,
                              bool waits);
[[nodiscard]] cudaError_t run(const strided_fill& fill, stream* stream, bool waits);

// The same as nodes of a graph, checked now.
[[nodiscard]] cudaError_t node(const strided_copy& copy, cudaMemcpyKind kind, node_content& result);
[[nodiscard]] cudaError_t node(const strided_fill& fill, node_content& result);

}  // namespace copies
}  // namespace memtrace::simulator
