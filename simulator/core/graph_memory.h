// SPDX-License-Identifier: Apache-2.0
//
// Memory of graphs' allocation nodes. A node has its address from when it is added; memory is there
// from a launch until it is freed by another node, another graph or an ordinary free. What a device
// has reserved for graphs stays until it is trimmed.
#pragma once

#include <cuda.h>

#include <vector>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::graph_memory {

// The address of a new node's memory. Errors: 1 no bytes, 2 no address left.
[[nodiscard]] cudaError_t add(int device, std::size_t bytes, address_t& address);
// True for an address that add() gave; and if it has memory now. Addresses are not used again.
[[nodiscard]] bool known(address_t address);
[[nodiscard]] bool live(address_t address);

struct step {
  address_t address;
  bool allocates;  // otherwise frees
};
// Does the work of a launch's nodes, in order. Error 1: memory that is there already, or is not
// there to be freed; 2: does not fit. Nothing happens then.
[[nodiscard]] cudaError_t run(const std::vector<step>& steps);

// By cudaFree and cudaFreeAsync. Error 1: not there.
[[nodiscard]] cudaError_t free(address_t address);

void trim(int device);   // cuDeviceGraphMemTrim
void reset(int device);  // nothing of it stays
// Errors: 1 no such attribute; setting: only the high-water marks, to 0.
[[nodiscard]] cudaError_t get(int device, CUgraphMem_attribute attribute, void* value);
[[nodiscard]] cudaError_t set(int device, CUgraphMem_attribute attribute, const void* value);

}  // namespace memtrace::simulator::graph_memory
