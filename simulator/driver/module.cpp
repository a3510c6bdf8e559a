// SPDX-License-Identifier: Apache-2.0
//
// Modules and libraries of device code, and their functions, in the driver API.
#include "simulator/core/modules.h"

#include <cuda.h>

#include <cstdint>

#include "simulator/core/attributes.h"
#include "simulator/core/device.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

CUresult load(CUmodule* module, const void* image) {
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  *module = modules::load();
  return CUDA_SUCCESS;
}

// A library is a module without a context; a kernel is its function.
CUmodule module_of(CUlibrary library) {
  return reinterpret_cast<CUmodule>(library);
}
CUfunction function_of(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

CUresult load_library(CUlibrary* library, const void* image) {
  if (!library || !image) return CUDA_ERROR_INVALID_VALUE;
  *library = reinterpret_cast<CUlibrary>(modules::load());
  return CUDA_SUCCESS;
}

CUresult global(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  std::size_t size = 0;
  const CUdeviceptr found = modules::global(module, name, current_device(), size);
  if (found == 0) return CUDA_ERROR_NOT_FOUND;
  if (address) *address = found;
  if (bytes) *bytes = size;
  return CUDA_SUCCESS;
}

}  // namespace

MEMTRACE_API CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load(module, path);
}

MEMTRACE_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image);
}

MEMTRACE_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned,
                                         CUjit_option*, void**) {
  return load(module, image);
}

MEMTRACE_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image);
}

MEMTRACE_API CUresult cuModuleUnload(CUmodule module) {
  return modules::unload(module) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
  *function = modules::function(module, name);
  return *function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                                        const char* name) {
  return global(address, bytes, module, name);
}

MEMTRACE_API CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*,
                                        void**, unsigned, CUlibraryOption*, void**, unsigned) {
  return load_library(library, image);
}

MEMTRACE_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*,
                                            void**, unsigned, CUlibraryOption*, void**, unsigned) {
  return load_library(library, path);
}

MEMTRACE_API CUresult cuLibraryUnload(CUlibrary library) {
  return modules::unload(module_of(library)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  if (!kernel || !name) return CUDA_ERROR_INVALID_VALUE;
  *kernel = reinterpret_cast<CUkernel>(modules::function(module_of(library), name));
  return *kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  *module = module_of(library);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes,
                                         CUlibrary library, const char* name) {
  return global(address, bytes, module_of(library), name);
}

MEMTRACE_API CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (!function || !kernel) return CUDA_ERROR_INVALID_VALUE;
  *function = function_of(kernel);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel,
                                           CUdevice) {
  if (!value || !kernel) return CUDA_ERROR_INVALID_VALUE;
  *value = modules::attribute(function_of(kernel), which);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel,
                                           CUdevice) {
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  modules::set_attribute(function_of(kernel), which, value);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which,
                                         CUfunction function) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  *value = modules::attribute(function, which);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                                         int value) {
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  modules::set_attribute(function, which, value);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = modules::name_of(function);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  *module = modules::module_of(function);
  return *module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuFuncLoad(CUfunction function) {
  return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  if (!state || !function) return CUDA_ERROR_INVALID_VALUE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                                  int block, std::size_t shared) {
  if (!blocks || !function) return CUDA_ERROR_INVALID_VALUE;
  *blocks = occupancy_blocks(block, shared);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int block, std::size_t shared, unsigned) {
  if (!blocks || !function) return CUDA_ERROR_INVALID_VALUE;
  *blocks = occupancy_blocks(block, shared);
  return CUDA_SUCCESS;
}

// Cluster sizes come with the launch; one cluster on every multiprocessor is what always fits.
MEMTRACE_API CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                                   const CUlaunchConfig* call) {
  if (!clusters || !function || !call) return CUDA_ERROR_INVALID_VALUE;
  const int block = static_cast<int>(call->blockDimX * call->blockDimY * call->blockDimZ);
  *clusters = occupancy_blocks(block, call->sharedMemBytes);
  return CUDA_SUCCESS;
}

// Linking: the result is as opaque as what it is made from.
MEMTRACE_API CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* state) {
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  *state = reinterpret_cast<CUlinkState>(modules::load());
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType, void* data, std::size_t,
                                    const char*, unsigned, CUjit_option*, void**) {
  return state && data ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType, const char* path, unsigned,
                                    CUjit_option*, void**) {
  return state && path ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  static char empty_image[16] = {};
  if (!state || !image) return CUDA_ERROR_INVALID_VALUE;
  *image = empty_image;
  if (bytes) *bytes = sizeof empty_image;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuLinkDestroy(CUlinkState state) {
  return modules::unload(reinterpret_cast<CUmodule>(state)) ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_HANDLE;
}
