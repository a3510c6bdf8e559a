// SPDX-License-Identifier: Apache-2.0
//
// NCCL: results, data types, reductions, and the communicator behind an ncclComm_t.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "simulator/core/device_memory.h"
#include "simulator/core/export.h"
#include "simulator/libraries/nccl_exchange.h"

namespace memtrace::simulator::nccl {

enum result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
};

enum data_type : int {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float8_e4m3 = 10,
  float8_e5m2 = 11,
};

// Bytes; 0 if there is no such type.
[[nodiscard]] constexpr std::size_t element_bytes(int type) {
  switch (type) {
    case int8:
    case uint8:
    case float8_e4m3:
    case float8_e5m2:
      return 1;
    case float16:
    case bfloat16:
      return 2;
    case int32:
    case uint32:
    case float32:
      return 4;
    case int64:
    case uint64:
    case float64:
      return 8;
    default:
      return 0;
  }
}

struct unique_id {
  char bytes[128];
};

// The beginning of ncclConfig_t, the same from 2.18 on.
struct communicator_config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int choices[4];
  const char* net_name;  // of a network plugin
};

// A number for an id that all ranks compute alike.
[[nodiscard]] std::uint64_t key_of(const unique_id& id);

struct communicator {
  std::uint64_t key = 0;  // the same at all ranks, of no other communicator
  int ranks = 0;
  int rank = 0;
  int device = 0;
  std::unique_ptr<exchange> peers;  // null if this is the only rank
  std::uint64_t exchanged = 0;      // collectives whose payload went through `peers`
  std::uint64_t children = 0;       // communicators split off
  address_t memory = 0;             // its own buffers on the device, from the first operation on
  std::atomic<bool> aborted{false};
};

// The communicator's own buffers, taken at its first operation.
[[nodiscard]] result take_memory(communicator& comm);

}  // namespace memtrace::simulator::nccl
