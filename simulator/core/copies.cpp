// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/copies.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simulator/core/capture.h"
#include "simulator/core/contents.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"

namespace memtrace::simulator::copies {
namespace {

// Where one end of a copy lies. Pinned, registered and managed memory is real host memory.
enum class place : std::uint8_t { pageable, pinned, managed, device, nowhere };

address_t address(const void* pointer) {
  return reinterpret_cast<address_t>(pointer);
}

std::size_t span(std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch,
                 std::size_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

// Mapped memory may consist of several mappings side by side.
bool all_allocated(address_t from, std::size_t bytes) {
  const address_t end = from + bytes;
  while (from < end) {
    const memory_range range = find(from);
    if (range.kind != memory_kind::device) return false;
    from = range.base + range.size;
  }
  return true;
}

place locate(const void* pointer, std::size_t bytes) {
  if (!pointer) return place::nowhere;
  if (is_device_address(address(pointer))) {
    return all_allocated(address(pointer), bytes) ? place::device : place::nowhere;
  }
  switch (find(pointer).kind) {
    case memory_kind::host:
    case memory_kind::registered:
      return place::pinned;
    case memory_kind::managed:
      return place::managed;
    default:
      return place::pageable;
  }
}

bool on_device(place end) {
  return end == place::device || end == place::managed;
}

// The device can reach all but pageable memory; the host all but device memory.
bool matches(place to, place from, cudaMemcpyKind kind) {
  if (to == place::nowhere || from == place::nowhere) return false;
  const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
  const bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
  if (kind == cudaMemcpyDefault) return true;
  const bool to_fits = to_host ? to != place::device : to != place::pageable;
  const bool from_fits = from_host ? from != place::device : from != place::pageable;
  return to_fits && from_fits;
}

void copy_row(void* to, place to_place, const void* from, place from_place, std::size_t bytes) {
  if (to_place == place::device && from_place == place::device) {
    contents::copy(address(to), address(from), bytes);
  } else if (to_place == place::device) {
    contents::upload(address(to), from, bytes);
  } else if (from_place == place::device) {
    if (!contents::read(to, address(from), bytes)) unknown_reads::note(to, address(from), bytes);
  } else {
    std::memmove(to, from, bytes);
  }
}

void perform(const strided_copy& copy, place to_place, place from_place) {
  auto* const to = static_cast<char*>(copy.to);
  const auto* const from = static_cast<const char*>(copy.from);
  const bool rows_touch =
      copy.height == 1 || (copy.to_pitch == copy.width && copy.from_pitch == copy.width);
  if (copy.depth == 1 && rows_touch) {
    copy_row(to, to_place, from, from_place, copy.width * copy.height);
    return;
  }
  for (std::size_t z = 0; z < copy.depth; ++z) {
    for (std::size_t y = 0; y < copy.height; ++y) {
      copy_row(to + z * copy.to_slice + y * copy.to_pitch, to_place,
               from + z * copy.from_slice + y * copy.from_pitch, from_place, copy.width);
    }
  }
}

clock::duration time_of(const strided_copy& copy, place to, place from) {
  const std::size_t bytes = copy.width * copy.height * copy.depth;
  return to == place::device && from == place::device ? clock::device_copy(bytes)
                                                      : clock::link_copy(bytes);
}

// Whether the caller is held until the copy is done.
bool holds(const strided_copy& copy, place to, place from, bool waits) {
  if (waits) return !(on_device(to) && on_device(from));
  if (to == place::pageable && on_device(from)) return true;
  // Small pageable uploads are copied aside and go on in the background.
  constexpr std::size_t staged = 64 << 10;
  return from == place::pageable && on_device(to) && copy.width * copy.height * copy.depth > staged;
}

cudaMemcpy3DParms parameters(const strided_copy& copy, cudaMemcpyKind kind) {
  cudaMemcpy3DParms result{};
  result.dstPtr = {copy.to, copy.to_pitch ? copy.to_pitch : copy.width, copy.width, copy.height};
  result.srcPtr = {const_cast<void*>(copy.from), copy.from_pitch ? copy.from_pitch : copy.width,
                   copy.width, copy.height};
  result.extent = {copy.width, copy.height, copy.depth};
  result.kind = kind;
  return result;
}

cudaError_t may_run(const stream& stream, bool waits) {
  if (const cudaError_t error = capture::check_use(stream); error != cudaSuccess) return error;
  if (!waits) return cudaSuccess;
  if (capture::capturing(stream)) return capture::stream_wait_call(stream);
  return capture::unsafe_call();
}

void fill_rows(const strided_fill& fill, place where) {
  auto* const to = static_cast<char*>(fill.to);
  for (std::size_t z = 0; z < fill.depth; ++z) {
    for (std::size_t y = 0; y < fill.height; ++y) {
      char* const row = to + z * fill.slice + y * fill.pitch;
      if (where == place::device) {
        contents::fill(address(row), fill.value, fill.element, fill.width);
        continue;
      }
      for (std::size_t x = 0; x < fill.width; ++x) {
        std::memcpy(row + x * fill.element, &fill.value, fill.element);
      }
    }
  }
}

cudaMemsetParams parameters(const strided_fill& fill) {
  cudaMemsetParams result{};
  result.dst = fill.to;
  result.elementSize = static_cast<unsigned>(fill.element);
  result.width = fill.width;
  result.height = fill.height;
  result.pitch = fill.pitch;
  result.value = fill.value;
  return result;
}

// A copy with its ends looked up.
struct checked_copy {
  strided_copy what;
  place to = place::nowhere;
  place from = place::nowhere;
};

cudaError_t check(const strided_copy& copy, cudaMemcpyKind kind, checked_copy& result) {
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  result.what = copy;
  result.to =
      locate(copy.to, span(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice));
  result.from = locate(copy.from,
                       span(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice));
  return matches(result.to, result.from, kind) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t check(const strided_fill& fill, place& where) {
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  where = locate(fill.to,
                 span(fill.width * fill.element, fill.height, fill.depth, fill.pitch, fill.slice));
  const bool reachable = where != place::nowhere && where != place::pageable;
  return reachable ? cudaSuccess : cudaErrorInvalidValue;
}

clock::duration time_of(const strided_fill& fill) {
  return clock::device_copy(fill.width * fill.element * fill.height * fill.depth);
}

node_content node_of(const checked_copy& copy, cudaMemcpyKind kind) {
  return {cudaGraphNodeTypeMemcpy, time_of(copy.what, copy.to, copy.from),
          parameters(copy.what, kind), [copy](stream&) { perform(copy.what, copy.to, copy.from); }};
}

node_content node_of(const strided_fill& fill, place where) {
  return {cudaGraphNodeTypeMemset, time_of(fill), parameters(fill),
          [=](stream&) { fill_rows(fill, where); }};
}

}  // namespace

cudaError_t run(const strided_copy& copy, cudaMemcpyKind kind, stream* stream, bool waits) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (const cudaError_t error = may_run(*stream, waits); error != cudaSuccess) return error;
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return cudaSuccess;
  checked_copy one;
  if (const cudaError_t error = check(copy, kind, one); error != cudaSuccess) return error;
  if (capture::capturing(*stream)) return capture::add(*stream, node_of(one, kind));
  const clock::time_point done = streams::enqueue(*stream, time_of(copy, one.to, one.from));
  perform(copy, one.to, one.from);
  if (holds(copy, one.to, one.from, waits)) clock::wait_until(done);
  return cudaSuccess;
}

cudaError_t run(const strided_fill& fill, stream* stream, bool waits) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = may_run(*stream, waits); error != cudaSuccess) return error;
  if (fill.width == 0 || fill.height == 0 || fill.depth == 0) return cudaSuccess;
  place where = place::nowhere;
  if (const cudaError_t error = check(fill, where); error != cudaSuccess) return error;
  if (capture::capturing(*stream)) return capture::add(*stream, node_of(fill, where));
  streams::enqueue(*stream, time_of(fill));
  fill_rows(fill, where);
  return cudaSuccess;
}

cudaError_t node(const strided_copy& copy, cudaMemcpyKind kind, node_content& result) {
  checked_copy one;
  if (const cudaError_t error = check(copy, kind, one); error != cudaSuccess) return error;
  result = node_of(one, kind);
  return cudaSuccess;
}

cudaError_t node(const strided_fill& fill, node_content& result) {
  place where = place::nowhere;
  if (const cudaError_t error = check(fill, where); error != cudaSuccess) return error;
  result = node_of(fill, where);
  return cudaSuccess;
}

}  // namespace memtrace::simulator::copies
