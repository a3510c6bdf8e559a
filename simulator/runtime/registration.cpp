// SPDX-License-Identifier: Apache-2.0
//
// The calls that nvcc puts into the initialisers of compiled code: it announces kernels and
// variables. The signatures are those of CUDA's crt/host_runtime.h; of the device code only the
// architectures are looked at.
#include <cuda_runtime_api.h>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/kernels.h"

using namespace memtrace::simulator;

// The handle of a fat binary, which programs only hand back, points to what they gave. Not freed: a
// program has as many as it has files of device code.
MEMTRACE_API void** __cudaRegisterFatBinary(void* binary) {
  return new void*(binary);
}

MEMTRACE_API void __cudaRegisterFatBinaryEnd(void**) {}

MEMTRACE_API void __cudaUnregisterFatBinary(void**) {}

MEMTRACE_API char __cudaInitModule(void**) {
  return 1;
}

MEMTRACE_API void __cudaRegisterFunction(void** fat_binary, const char* host_function, char*,
                                         const char* name, int, void*, void*, void*, void*, int*) {
  kernels::add(host_function, name, fat_binary == nullptr ? nullptr : *fat_binary);
}

MEMTRACE_API void __cudaRegisterVar(void**, char* host_variable, char*, const char*, int,
                                    std::size_t bytes, int, int) {
  kernels::add_variable(host_variable, bytes);
}

MEMTRACE_API void __cudaRegisterManagedVar(void**, void** host_variable, char*, const char*, int,
                                           std::size_t bytes, int, int) {
  kernels::add_variable(host_variable, bytes);
}

// The handle of a kernel is its host function.
MEMTRACE_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host_function));
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  if (!kernel || !host_function) return remember(cudaErrorInvalidValue);
  return __cudaGetKernel(kernel, host_function);
}

MEMTRACE_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host_function) {
  if (!function || !host_function) return remember(cudaErrorInvalidValue);
  *function = static_cast<cudaFunction_t>(const_cast<void*>(host_function));
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaFuncGetName(const char** name, const void* host_function) {
  if (!name) return remember(cudaErrorInvalidValue);
  *name = kernels::name_of(host_function);
  return remember(*name ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

MEMTRACE_API cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  if (!address) return remember(cudaErrorInvalidValue);
  return remember(kernels::variable(symbol, current_device(), *address));
}

MEMTRACE_API cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  if (!bytes) return remember(cudaErrorInvalidValue);
  return remember(kernels::variable_size(symbol, *bytes));
}
