// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a process: locked, its device memory moved to the host, restored, unlocked. Only
// of the calling process, and a lock makes no call wait here.
#include <cuda.h>

#if CUDA_VERSION >= 12080
#include <unistd.h>

#include <cstdint>
#include <mutex>

#include "simulator/core/capacity.h"
#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

std::mutex mutex;
CUprocessState state = CU_PROCESS_STATE_RUNNING;
std::uint64_t evicted[maximum_devices];

CUresult check(int pid) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return pid == getpid() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// From one state to the next; `work` may refuse.
template <typename Work>
CUresult step(int pid, CUprocessState from, CUprocessState to, Work work) {
  if (const CUresult error = check(pid); error != CUDA_SUCCESS) return error;
  const std::lock_guard lock(mutex);
  if (state != from) return CUDA_ERROR_ILLEGAL_STATE;
  const CUresult error = work();
  if (error == CUDA_SUCCESS) state = to;
  return error;
}

CUresult nothing() {
  return CUDA_SUCCESS;
}

CUresult evict() {
  for (int device = 0; device < device_count(); ++device) {
    evicted[device] = own_used_bytes(device);
    capacity::give_back(device, evicted[device]);
  }
  return CUDA_SUCCESS;
}

CUresult bring_back() {
  for (int device = 0; device < device_count(); ++device) {
    if (capacity::take(device, evicted[device], total_bytes(device))) continue;
    for (int taken = 0; taken < device; ++taken) capacity::give_back(taken, evicted[taken]);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

}  // namespace

MEMTRACE_API CUresult cuCheckpointProcessGetState(int pid, CUprocessState* result) {
  if (const CUresult error = check(pid); error != CUDA_SUCCESS) return error;
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(mutex);
  *result = state;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int* result) {
  if (const CUresult error = check(pid); error != CUDA_SUCCESS) return error;
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  *result = pid;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs*) {
  return step(pid, CU_PROCESS_STATE_RUNNING, CU_PROCESS_STATE_LOCKED, nothing);
}

MEMTRACE_API CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs*) {
  return step(pid, CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_CHECKPOINTED, evict);
}

MEMTRACE_API CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs*) {
  return step(pid, CU_PROCESS_STATE_CHECKPOINTED, CU_PROCESS_STATE_LOCKED, bring_back);
}

MEMTRACE_API CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs*) {
  return step(pid, CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_RUNNING, nothing);
}
#endif
