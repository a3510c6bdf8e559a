// SPDX-License-Identifier: Apache-2.0
//
// What the generated calls (generate.py) are given: live objects of every kind, places for results,
// and a count of the helping calls that make them, by the name of the function really called.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace world {

// A value that is asked for as an address, a handle or a number.
struct value {
  std::uint64_t bits;
  operator unsigned long long() const { return bits; }
  template <typename T>
  operator T*() const {
    return reinterpret_cast<T*>(bits);
  }
};

template <typename T>
value as_value(T* pointer) {
  return {reinterpret_cast<std::uint64_t>(pointer)};
}
inline value as_value(unsigned long long number) {
  return {number};
}

// Places for results of a call: filled with a pattern before it, printed after it.
constexpr int slot_count = 4;
constexpr int slot_bytes = 128;
void clear_slots();
value out(int slot);
value result(int slot);  // the first 8 bytes written there
unsigned long long result32(int slot);
void print_slots();

// Zeroes that may be read where a structure is expected.
value zeroes();

void count_helper(const char* name);
void print_helpers();
#define MEMTRACE_TEXT(name) #name
#define MEMTRACE_NAME(name) MEMTRACE_TEXT(name)
#define HELP(function) (world::count_helper(MEMTRACE_NAME(function)), function)

// Once, before the first call: the process whose memory is opened here. Then CUDA itself.
void fork_exporter();
void begin();
void renew();  // after the device was reset
void end();    // the primary context is gone, and current

// Made for one call each, where it releases or uses them.
value device_memory(std::size_t bytes = 65536);
value managed_memory();
value pinned_memory();
value plain_memory();  // of the program, page-aligned, not registered
value registered_memory();
value pool_memory();
value pool();
value exportable_pool();
value pool_descriptor();
value imported_pool();
value exported_pointer();  // cudaMemPoolPtrExportData
value reservation(std::size_t bytes = 2 << 20);
value physical(std::size_t bytes = 2 << 20);
value mapped(std::size_t bytes = 2 << 20);
value physical_descriptor();
value multicast(bool complete);
value array();
value mipmapped();
value foreign_handle();  // cudaIpcMemHandle_t of the other process
value opened_memory();
value external_memory();
value graphics_resource(bool mapped);
value graph();
value graph_with_memory(value& address);
value launchable();
value library();
value module();
value context();
value old_memory();      // in a context of the first cuCtxCreate
int retained_primary();  // the device
void release_primary();
value green_description();
value green();
value batch_addresses();
value batch_sizes();

// Structures as the driver and the runtime describe things; of static life.
value physical_properties();
value pool_properties();
value location();
value location_bits();  // by value, as two ints
value access();
value channels();
value array_shape();  // CUDA_ARRAY_DESCRIPTOR
value array3d_shape();
value old_array_shape();
value old_array3d_shape();
value multicast_properties();
value external_description();
value buffer_description();
value external_array_description(bool runtime);
value allocation_node();         // CUDA_MEM_ALLOC_NODE_PARAMS
value any_node(bool allocates);  // CUgraphNodeParams
value list_of(value one);
value attribute_value(unsigned long long number);
value zero_index();

// Ends of what a successful call made.
void free_device(value address);
void free_old(unsigned long long address);
void free_pinned(value address);
void free_async(value address);
void free_array(value handle);
void unregister(value address);
void destroy_pool(value handle);
void close_descriptor(value descriptor);
void unreserve(value address, std::size_t bytes = 2 << 20);
void release(value handle);
void unmap(value address);
void close_opened(value address);
void destroy_external(value handle);
void destroy_context(value handle);
void destroy_green(value handle);
void unload_module(value handle);
void unload_library(value handle);

value stream();
void use_old_context(bool use);
void use_device(int device);
void begin_capture();
int end_capture();  // the result

}  // namespace world
