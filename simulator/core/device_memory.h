// SPDX-License-Identifier: Apache-2.0
//
// Everything the simulated CUDA allocates, by address, and what it costs each device. Device
// addresses are reserved without access: they cost the host nothing and touching them faults, as on
// a machine with a GPU.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace memtrace::simulator {

using address_t = std::uint64_t;

enum class memory_kind : std::uint8_t {
  unknown,     // not ours: ordinary host memory, or nothing at all
  host,        // pinned: cudaHostAlloc and the like
  registered,  // the program's own memory, pinned by cudaHostRegister
  device,      // cudaMalloc, pools, mapped VMM
  managed      // cudaMallocManaged: host and device may touch it
};

struct memory_range {
  memory_kind kind = memory_kind::unknown;
  address_t base = 0;       // of the allocation that holds the address
  std::size_t size = 0;     // as requested, bytes
  int device = -1;          // of device and managed memory; current device at allocation for pinned
  std::uint64_t id = 0;     // unique for each allocation in this process, never reused
  bool pool = false;        // from cudaMallocAsync
  bool mapped_vmm = false;  // from cuMemMap
  bool graph = false;       // from a graph's allocation node
  bool imported = false;    // opened from another process
  bool foreign_pool = false;    // of these, from a pool: freed like a pool's own
  unsigned flags = 0;           // as given to cudaHostAlloc or cudaHostRegister
  CUcontext context = nullptr;  // that it ends with; null for pools and virtual memory
};

// The allocation that holds the address. Thread-safe.
[[nodiscard]] memory_range find(address_t address);
[[nodiscard]] inline memory_range find(const void* address) {
  return find(reinterpret_cast<address_t>(address));
}

// True for any address in the simulator's reserved range of device addresses, allocated or not.
[[nodiscard]] bool is_device_address(address_t address);

// cudaMalloc and cudaFree without implicit synchronisation or context creation. Freeing null does
// nothing; an address that is not the start of a live allocation is cudaErrorInvalidValue.
// `below_4_gib`: for contexts of the first cuCtxCreate.
[[nodiscard]] cudaError_t allocate_device(int device, std::size_t bytes, address_t& address,
                                          bool below_4_gib = false);
[[nodiscard]] cudaError_t free_device(address_t address);

// Bytes of a device: all processes of the session together for used and free.
[[nodiscard]] std::uint64_t total_bytes(int device);
[[nodiscard]] std::uint64_t used_bytes(int device);
[[nodiscard]] std::uint64_t free_bytes(int device);
// Counts this process alone.
[[nodiscard]] std::uint64_t own_used_bytes(int device);

// Memory that a library or the context takes on its own (handles, workspaces, kernels). False if it
// does not fit; nothing is charged then.
[[nodiscard]] bool charge(int device, std::uint64_t bytes);
void uncharge(int device, std::uint64_t bytes);

}  // namespace memtrace::simulator
