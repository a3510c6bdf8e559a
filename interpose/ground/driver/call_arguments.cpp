// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/call_arguments.h"

#include <atomic>
#include <cstring>

#include "interpose/ground/driver/driver_queries.h"
#include "interpose/ground/driver/known_memory.h"
#include "interpose/ground/loader/real_function.h"

namespace memtrace::call_arguments {
namespace {

// CU_MEM_LOCATION_TYPE_DEVICE; the others are the host's.
constexpr int location_is_device = 1;
// CU_GRAPH_NODE_TYPE_MEM_ALLOC, …_FREE.
constexpr int node_allocates = 10;
constexpr int node_frees = 11;

// Offsets in bytes.
constexpr std::size_t location_in_properties = 8;  // behind the type and the kinds of handles
constexpr std::size_t size_in_multicast = 8;
constexpr std::size_t size_in_external = 24;
constexpr std::size_t size_in_buffer = 8;
constexpr std::size_t size_in_allocation =
    104;  // behind the pool's properties (88 bytes) and access
constexpr std::size_t address_in_allocation = 112;
constexpr std::size_t parameters_in_node = 16;

template <typename T>
T field(const void* structure, std::size_t offset) noexcept {
  T value{};
  if (structure == nullptr) return value;
  std::memcpy(&value, static_cast<const char*>(structure) + offset, sizeof value);
  return value;
}

// Handles of the default streams: null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
bool is_default(const void* stream) noexcept {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

// Before 12.8 the device is only to be had by making the stream's context current, which a hook
// must not.
int device_of_stream(void* stream) noexcept {
  if (is_default(stream) || !known_memory::several_devices()) return here;
  const driver_queries* const driver = driver_queries::find();
  if (driver == nullptr || driver->stream_device == nullptr) return here;
  int device = here;
  return driver->stream_device(stream, &device) == 0 && device >= 0 ? device : here;
}

}  // namespace

int of_location(const void* location) noexcept {
  return of_location_value(field<std::uint64_t>(location, 0));
}

int of_location_value(std::uint64_t location) noexcept {
  const int kind = static_cast<int>(location & 0xffffffff);
  const int index = static_cast<int>(location >> 32);
  return kind == location_is_device && index >= 0 ? index : here;
}

int of_properties(const void* properties) noexcept {
  return of_location_value(field<std::uint64_t>(properties, location_in_properties));
}

call_place of_pool(const void* pool, void* stream) noexcept {
  return {of_handle(pool), stream};
}
call_place recorded_on(void* stream) noexcept {
  return {recorded, stream};
}
int of_handle(const void* handle) noexcept {
  return of_handle(reinterpret_cast<std::uintptr_t>(handle));
}
int of_address(const void* address) noexcept {
  return of_address(reinterpret_cast<std::uintptr_t>(address));
}
int of_handle(std::uint64_t handle) noexcept {
  const auto known = known_memory::device_of_handle(handle);
  return known ? static_cast<int>(*known) : here;
}
int of_address(std::uint64_t address) noexcept {
  const auto known = known_memory::device_of_address(address);
  return known ? static_cast<int>(*known) : here;
}

// cuStreamGetDevice is new in 12.8; before it the device is only to be had by making the stream's
// context current, which a hook must not.
call_place of_stream(void* stream) noexcept {
  return {device_of_stream(stream), stream};
}

std::uint64_t primary_context(int device) noexcept {
  return known_memory::primary_context(device);
}

std::uint64_t pitched_bytes(const cuda_pitched* made, const cuda_extent& wanted,
                            int error) noexcept {
  const std::uint64_t pitch = error == 0 ? at(made).pitch : wanted.width;
  return pitch * wanted.height * wanted.depth;
}

std::uint64_t multicast_bytes(const void* properties) noexcept {
  return field<std::uint64_t>(properties, size_in_multicast);
}
std::uint64_t external_bytes(const void* description) noexcept {
  return field<std::uint64_t>(description, size_in_external);
}
std::uint64_t buffer_bytes(const void* description) noexcept {
  return field<std::uint64_t>(description, size_in_buffer);
}

std::uint64_t ipc_key(const cuda_ipc_handle& handle) noexcept {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a, 64 bits
  for (const char byte : handle.reserved) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  }
  return hash;
}

std::uint64_t opened_bytes(const void* address, int error) noexcept {
  return opened_bytes(reinterpret_cast<std::uintptr_t>(address), error);
}

std::uint64_t opened_bytes(std::uint64_t address, int error) noexcept {
  const driver_queries* const driver = error == 0 ? driver_queries::find() : nullptr;
  if (driver == nullptr || driver->address_range == nullptr) return 0;
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  return driver->address_range(&begin, &bytes, address) == 0 ? bytes : 0;
}

const void* runtime_node(std::uint64_t fifth, std::uint64_t sixth) noexcept {
  static constinit std::atomic<int> version{0};
  int known = version.load(std::memory_order_relaxed);
  if (known == 0) {
    auto* const ask = reinterpret_cast<int (*)(int*)>(
        find_real_function(library_family::runtime, "cudaRuntimeGetVersion"));
    if (ask == nullptr || ask(&known) != 0) return nullptr;
    version.store(known, std::memory_order_relaxed);
  }
  return reinterpret_cast<const void*>(known >= 13000 ? sixth : fifth);
}

memory_node node_of(const void* node) noexcept {
  const int kind = field<int>(node, 0);
  if (kind != node_allocates && kind != node_frees) return {};
  const void* const parameters = static_cast<const char*>(node) + parameters_in_node;
  if (kind == node_frees) {
    return {.frees = true, .address = field<std::uint64_t>(parameters, 0)};
  }
  return {.allocates = true,
          .address = node_address(parameters),
          .bytes = node_bytes(parameters),
          .device = of_node(parameters)};
}

std::uint64_t node_address(const void* parameters) noexcept {
  return field<std::uint64_t>(parameters, address_in_allocation);
}
std::uint64_t node_bytes(const void* parameters) noexcept {
  return field<std::uint64_t>(parameters, size_in_allocation);
}
int of_node(const void* parameters) noexcept {
  return of_properties(parameters);
}

}  // namespace memtrace::call_arguments
