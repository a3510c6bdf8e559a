// SPDX-License-Identifier: Apache-2.0
//
// The functions by which the rows of hooks.def read a call's arguments. Layouts are those of cuda.h
// and cuda_runtime_api.h, which are the same from CUDA 11 to 13 as far as they are read here; where
// the driver's and the runtime's structures differ in name only, one function reads both. A null
// pointer reads as zeros: the real function says what it thinks of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace {

// Passed by value: the caller's stack must be laid out the same.
struct cuda_extent {
  std::size_t width;   // of arrays in elements, else in bytes
  std::size_t height;  // 0: fewer dimensions
  std::size_t depth;
};
struct cuda_ipc_handle {  // and what pools make of a pointer
  char reserved[64];
};
struct cuda_pitched {
  void* pointer;
  std::size_t pitch;
  std::size_t width;
  std::size_t height;
};

// The structures CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR, before and since 3.2.
template <typename Size>
struct array_descriptor_2d {
  Size width;
  Size height;
  int format;
  unsigned channels;
};
template <typename Size>
struct array_descriptor_3d {
  Size width;
  Size height;
  Size depth;
  int format;
  unsigned channels;
  unsigned flags;
};

namespace call_arguments {

// In place of a device: that of the calling thread's context; that which is known of the address or
// the handle of the call.
inline constexpr int here = -1;
inline constexpr int recorded = -2;

struct call_place {
  // Rows give a device, or one of those two.
  constexpr call_place(int on) noexcept : device(on) {}  // NOLINT(google-explicit-constructor)
  constexpr call_place(int on, void* in_order_of) noexcept : device(on), stream(in_order_of) {}
  int device;
  void* stream = nullptr;
};

using array_2d = array_descriptor_2d<std::size_t>;
using array_2d_v1 = array_descriptor_2d<unsigned>;
using array_3d = array_descriptor_3d<std::size_t>;
using array_3d_v1 = array_descriptor_3d<unsigned>;

// The value that a result pointer points to; the driver may take a null one for another meaning.
template <typename T>
[[nodiscard]] T at(const T* result) noexcept {
  return result == nullptr ? T{} : *result;
}
template <typename T>
[[nodiscard]] T first_of(const T* list, std::uint64_t count) noexcept {
  return count == 0 ? T{} : at(list);
}
[[nodiscard]] constexpr std::uint64_t as_index(int value) noexcept {
  return static_cast<std::uint64_t>(value);
}

// CUmemLocation and where it is inside CUmemAllocationProp and CUmemPoolProps.
[[nodiscard]] int of_location(const void* location) noexcept;
[[nodiscard]] int of_location_value(std::uint64_t location) noexcept;
[[nodiscard]] int of_properties(const void* properties) noexcept;
// The device of a stream's context; of the current one for the default streams.
[[nodiscard]] call_place of_stream(void* stream) noexcept;
[[nodiscard]] call_place recorded_on(void* stream) noexcept;
[[nodiscard]] call_place of_pool(const void* pool, void* stream = nullptr) noexcept;
[[nodiscard]] int of_handle(std::uint64_t handle) noexcept;
[[nodiscard]] int of_handle(const void* handle) noexcept;
[[nodiscard]] int of_address(std::uint64_t address) noexcept;
[[nodiscard]] int of_address(const void* address) noexcept;

// The context of a device that was retained in this process; 0: not known.
[[nodiscard]] std::uint64_t primary_context(int device) noexcept;

[[nodiscard]] std::uint64_t pitched_bytes(const cuda_pitched* made, const cuda_extent& wanted,
                                          int error) noexcept;
[[nodiscard]] std::uint64_t multicast_bytes(const void* properties) noexcept;
// CUDA_EXTERNAL_MEMORY_HANDLE_DESC and …_BUFFER_DESC.
[[nodiscard]] std::uint64_t external_bytes(const void* description) noexcept;
[[nodiscard]] std::uint64_t buffer_bytes(const void* description) noexcept;

// Equal in the process that made the handle known and in the one that opens it.
[[nodiscard]] std::uint64_t ipc_key(const cuda_ipc_handle& handle) noexcept;
// The size of memory that another process made known, as the driver says; 0 if it does not.
[[nodiscard]] std::uint64_t opened_bytes(const void* address, int error) noexcept;
[[nodiscard]] std::uint64_t opened_bytes(std::uint64_t address, int error) noexcept;

// The content of a CUgraphNodeParams.
struct memory_node {
  bool allocates = false;
  bool frees = false;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  int device = here;
};
[[nodiscard]] memory_node node_of(const void* node) noexcept;
// The one of cudaGraphAddNode's last two arguments that this version of the runtime means.
[[nodiscard]] const void* runtime_node(std::uint64_t fifth, std::uint64_t sixth) noexcept;

// From a CUDA_MEM_ALLOC_NODE_PARAMS.
[[nodiscard]] std::uint64_t node_address(const void* parameters) noexcept;
[[nodiscard]] std::uint64_t node_bytes(const void* parameters) noexcept;
[[nodiscard]] int of_node(const void* parameters) noexcept;

// Elements times their size, all levels of a mipmap; what the driver adds is not in it.
struct array_shape {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 0;
  std::uint64_t element_bits = 0;
  bool layered = false;  // depth counts layers: the same at every level
};
[[nodiscard]] std::uint64_t shape_bytes(array_shape shape, unsigned levels) noexcept;
[[nodiscard]] std::uint64_t format_bits(int format, unsigned channels) noexcept;
// The runtime's: a cudaChannelFormatDesc, whose fields count bits.
[[nodiscard]] std::uint64_t array_bytes(const void* channels, const cuda_extent& extent,
                                        unsigned flags, unsigned levels) noexcept;

inline constexpr unsigned array_is_layered = 1;

template <typename Descriptor>
[[nodiscard]] std::uint64_t array_bytes(const void* descriptor, unsigned levels = 1) noexcept {
  const auto wanted = at(static_cast<const Descriptor*>(descriptor));
  array_shape shape{.width = wanted.width,
                    .height = wanted.height,
                    .depth = 0,
                    .element_bits = format_bits(wanted.format, wanted.channels)};
  if constexpr (requires { wanted.depth; }) {
    shape.depth = wanted.depth;
    shape.layered = (wanted.flags & array_is_layered) != 0;
  }
  return shape_bytes(shape, levels);
}

}  // namespace call_arguments
}  // namespace memtrace
