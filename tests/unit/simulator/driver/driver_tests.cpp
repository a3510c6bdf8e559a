// SPDX-License-Identifier: Apache-2.0
//
// Contexts, errors by name, and finding driver functions.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

TEST_CASE("a thread without a context gets error 201 from the driver, and one from the runtime") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  std::thread([] {
    CUdevice device = 0;
    CUdeviceptr address = 0;
    const CUresult asked = cuCtxGetDevice(&device);
    const CUresult allocated = cuMemAlloc(&address, 1);
    void* pointer = nullptr;
    const cudaError_t by_runtime = cudaMalloc(&pointer, 1);
    const CUresult then = cuCtxGetDevice(&device);
    (void)cudaFree(pointer);
    CHECK(asked == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(allocated == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(by_runtime == cudaSuccess);
    CHECK(then == CUDA_SUCCESS);
  }).join();
}

TEST_CASE("contexts are pushed and popped") {
  CUcontext primary = nullptr;
  CUcontext popped = nullptr;
  CUcontext current = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS);
  REQUIRE(cuCtxSetCurrent(nullptr) == CUDA_SUCCESS);
  REQUIRE(cuCtxPushCurrent(primary) == CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  CHECK(current == primary);
  REQUIRE(cuCtxPopCurrent(&popped) == CUDA_SUCCESS);
  CHECK(popped == primary);
  REQUIRE(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  CHECK(current == nullptr);
  CHECK(cuCtxPopCurrent(&popped) == CUDA_ERROR_INVALID_CONTEXT);
  int unknown = 0;
  CHECK(cuCtxPushCurrent(reinterpret_cast<CUcontext>(&unknown)) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
}

TEST_CASE("errors have the names and texts that programs print") {
  CHECK(std::string(cudaGetErrorName(cudaErrorMemoryAllocation)) == "cudaErrorMemoryAllocation");
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(123456))) ==
        "unrecognized error code");
  const char* text = nullptr;
  REQUIRE(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "CUDA_ERROR_OUT_OF_MEMORY");
  CHECK(cuGetErrorString(static_cast<CUresult>(123456), &text) == CUDA_ERROR_INVALID_VALUE);
  CHECK(text == nullptr);
}

TEST_CASE("driver functions are found by name and version") {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  const auto find = [&](const char* name, int version) {
    return cuGetProcAddress(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  };
  REQUIRE(find("cuMemAlloc", 12000) == CUDA_SUCCESS);
  CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
  CHECK(function != nullptr);
  CHECK(function == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
  REQUIRE(find("cuCtxCreate", 11040) == CUDA_SUCCESS);
  CHECK(function == dlsym(RTLD_DEFAULT, "cuCtxCreate_v3"));
  REQUIRE(find("cuCtxCreate", 11030) == CUDA_SUCCESS);
  CHECK(function == dlsym(RTLD_DEFAULT, "cuCtxCreate_v2"));
  REQUIRE(find("cuMemAlloc", 1000) == CUDA_SUCCESS);
  CHECK(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CHECK(function == nullptr);
  REQUIRE(find("cuNoSuchFunction", 12000) == CUDA_SUCCESS);
  CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(function == nullptr);
  CHECK(find("cuMemAlloc", 99000) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("the per-thread default stream is found where it is asked for") {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  REQUIRE(cuGetProcAddress("cuMemAllocAsync", &function, 12000,
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status) == CUDA_SUCCESS);
  CHECK(function == dlsym(RTLD_DEFAULT, "cuMemAllocAsync_ptsz"));
  REQUIRE(cuGetProcAddress("cuMemAllocAsync", &function, 12000, 0, &status) == CUDA_SUCCESS);
  CHECK(function == dlsym(RTLD_DEFAULT, "cuMemAllocAsync"));
}

TEST_CASE("every name that PyTorch's driver_api asks for is there") {
  for (const char* name : {"cuDeviceGetAttribute",
                           "cuMemAddressReserve",
                           "cuMemRelease",
                           "cuMemMap",
                           "cuMemAddressFree",
                           "cuMemSetAccess",
                           "cuMemUnmap",
                           "cuMemCreate",
                           "cuMemGetAllocationGranularity",
                           "cuMemExportToShareableHandle",
                           "cuMemRetainAllocationHandle",
                           "cuMemsetD32Async",
                           "cuStreamWriteValue32",
                           "cuGetErrorString",
                           "cuMulticastAddDevice",
                           "cuMulticastBindMem",
                           "cuMulticastCreate",
                           "cuMulticastUnbind",
                           "cuMemImportFromShareableHandle",
                           "cuMemGetAllocationPropertiesFromHandle",
                           "cuCtxGetCurrent",
                           "cuCtxPopCurrent",
                           "cuCtxPushCurrent",
                           "cuCtxSetCurrent",
                           "cuDeviceGet"}) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    CAPTURE(name);
    CHECK(cuGetProcAddress(name, &function, CUDA_VERSION, 0, &status) == CUDA_SUCCESS);
    CHECK(function != nullptr);
  }
}

TEST_CASE("a child forked after the parent used the GPU cannot use it, as on a GPU") {
  const device_buffer used(1);
  const pid_t child = fork();
  if (child == 0) {
    void* pointer = nullptr;
    _exit(cudaMalloc(&pointer, 1) == cudaErrorInitializationError ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
