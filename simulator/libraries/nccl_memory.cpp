// SPDX-License-Identifier: Apache-2.0
//
// NCCL: memory for its buffers, registration, and reductions of the program's own.
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/libraries/nccl_reduce.h"
#include "simulator/libraries/nccl_types.h"
#include "simulator/libraries/own_memory.h"

namespace memtrace::simulator::nccl {
namespace {

int registered(const communicator* comm, void* buffer, void** handle) {
  if (comm == nullptr || handle == nullptr) return invalid_argument;
  *handle = buffer;
  return success;
}

}  // namespace

MEMTRACE_API int ncclMemAlloc(void** to, std::size_t bytes) {
  if (to == nullptr || bytes == 0) return invalid_argument;
  const int device = current_device();
  address_t address = 0;
  if (ensure_context(device) != cudaSuccess ||
      !own_memory::take("libnccl", device, bytes, address)) {
    return unhandled_cuda_error;
  }
  *to = reinterpret_cast<void*>(address);
  return success;
}
MEMTRACE_API int ncclMemFree(void* pointer) {
  const memory_range range = find(pointer);
  if (range.kind != memory_kind::device || range.base != reinterpret_cast<address_t>(pointer)) {
    return unhandled_cuda_error;
  }
  own_memory::give_back("libnccl", range.device, range.base);
  return success;
}

MEMTRACE_API int ncclCommRegister(const communicator* comm, void* buffer, std::size_t,
                                  void** handle) {
  return registered(comm, buffer, handle);
}
MEMTRACE_API int ncclCommDeregister(const communicator* comm, void*) {
  return comm == nullptr ? invalid_argument : success;
}
MEMTRACE_API int ncclCommWindowRegister(const communicator* comm, void* buffer, std::size_t,
                                        void** window, int) {
  return registered(comm, buffer, window);
}
MEMTRACE_API int ncclCommWindowDeregister(const communicator* comm, void*) {
  return comm == nullptr ? invalid_argument : success;
}
// Communication from within kernels: no kernel runs.
MEMTRACE_API int ncclDevCommCreate(const communicator*, const void*, void*) {
  return invalid_usage;
}
MEMTRACE_API int ncclDevCommDestroy(const communicator*, const void*) {
  return invalid_usage;
}

MEMTRACE_API int ncclRedOpCreatePreMulSum(int* to, const void*, int, int, const communicator*) {
  if (to == nullptr) return invalid_argument;
  *to = average + 1;
  return success;
}
MEMTRACE_API int ncclRedOpDestroy(int, const communicator* comm) {
  return comm == nullptr ? invalid_argument : success;
}

}  // namespace memtrace::simulator::nccl
