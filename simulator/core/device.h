// SPDX-License-Identifier: Apache-2.0
//
// The devices: which one is current in a thread, and which have a primary context. Lock-free where
// PyTorch calls on every operation.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace memtrace::simulator {

// Devices visible to this process (CUDA_VISIBLE_DEVICES applied).
[[nodiscard]] int device_count();
[[nodiscard]] bool valid_device(int device);

// Index among all simulated GPUs: what identity.h speaks of. `device` must be valid.
[[nodiscard]] int physical_device(int device);

// The calling thread's device as the runtime sees it. Never fails; 0 at first.
[[nodiscard]] int current_device();
void set_current_device(int device);

// The calling thread's driver context: null until the thread has one.
[[nodiscard]] CUcontext current_context();
void set_current_context(CUcontext context);

[[nodiscard]] bool context_active(int device);

// Creates the primary context of `device` if it has none and makes it the thread's, as every
// runtime call that needs a context does. cudaErrorMemoryAllocation if its memory does not fit;
// cudaErrorInitializationError in a child forked after the parent used CUDA.
[[nodiscard]] cudaError_t ensure_context(int device);
// As the runtime does that finds a context of cuCtxCreate current: it stays.
[[nodiscard]] cudaError_t ensure_context();

// The same without making it the thread's, and the contrary: its memory is given back, and with it
// goes nothing else (cudaDeviceReset frees the allocations first).
[[nodiscard]] cudaError_t activate_context(int device);
void deactivate_context(int device);

// What PyTorch's first kernel on the device takes of it (constants.def), once, if there is room.
void load_kernels(int device);

// The primary context's handle, whether active or not; and the device of a context (-1: unknown).
[[nodiscard]] CUcontext primary_context(int device);
[[nodiscard]] int context_device(CUcontext context);

// The version of a context's API, as cuCtxGetApiVersion says: contexts of the first cuCtxCreate
// have device addresses of 32 bits.
inline constexpr unsigned old_context = 3010;
inline constexpr unsigned new_context = 3020;
[[nodiscard]] unsigned context_version(CUcontext context);

// A context of cuCtxCreate costs as much as a primary one. Destroying takes the handle away;
// device_reset.h ends what lived in it. Errors: 2 does not fit; 201 no context, or a primary one.
[[nodiscard]] cudaError_t create_context(int device, CUcontext& result,
                                         unsigned version = new_context);
[[nodiscard]] cudaError_t destroy_context(CUcontext context);

void set_initialized();  // cuInit, or any context
[[nodiscard]] bool initialized();

// For calls of the driver that need the thread's context. Errors: 3 before cuInit; 201 none, or one
// of another API version than the call's; 709 it was destroyed or reset.
[[nodiscard]] CUresult check_context(unsigned version = new_context);

// True in a child forked from a process that had a context: every call then fails with error 3.
[[nodiscard]] bool unusable_after_fork();

}  // namespace memtrace::simulator
