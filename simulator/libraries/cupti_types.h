// SPDX-License-Identifier: Apache-2.0
//
// The newest versions of CUPTI's records in the CUDA version that is built.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace memtrace::simulator::cupti {

#if CUDART_VERSION >= 13000
using memory_record = CUpti_ActivityMemory4;
using pool_record = CUpti_ActivityMemoryPool3;
using kernel_record = CUpti_ActivityKernel10;
using migration_record = CUpti_ActivityUnifiedMemoryCounter3;
#else
using memory_record = CUpti_ActivityMemory3;
using pool_record = CUpti_ActivityMemoryPool2;
using kernel_record = CUpti_ActivityKernel9;
using migration_record = CUpti_ActivityUnifiedMemoryCounter2;
#endif

// Bytes of a record of a kind that is delivered here; 0 for others.
[[nodiscard]] constexpr std::size_t record_bytes(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(memory_record);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return sizeof(pool_record);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(kernel_record);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return sizeof(migration_record);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return 0;
  }
}

}  // namespace memtrace::simulator::cupti
