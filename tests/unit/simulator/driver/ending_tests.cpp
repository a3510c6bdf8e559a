// SPDX-License-Identifier: Apache-2.0
//
// Everything that ends with a context, memory of graphs' nodes, old API versions, and memory of
// others: by what the device says is free.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

namespace {

constexpr std::size_t mebibyte = 1u << 20;

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  return free;
}

template <typename Function>
Function* first_version(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

cudaMemAllocNodeParams node_of(std::size_t bytes) {
  cudaMemAllocNodeParams what{};
  what.poolProps.allocType = cudaMemAllocationTypePinned;
  what.poolProps.location = {cudaMemLocationTypeDevice, 0};
  what.bytesize = bytes;
  return what;
}

}  // namespace

TEST_CASE("a context takes what was allocated in it with it, and no more") {
  void* outside = nullptr;
  REQUIRE(cudaMalloc(&outside, 4 * mebibyte) == cudaSuccess);
  const std::size_t before = free_memory();
  CUcontext context = nullptr;
  CUdeviceptr inside = 0;
  REQUIRE(first_version<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")(
              &context, 0, 0) == CUDA_SUCCESS);
  REQUIRE(cuMemAlloc(&inside, 6 * mebibyte) == CUDA_SUCCESS);
  REQUIRE(cuCtxDestroy(context) == CUDA_SUCCESS);
  CHECK(free_memory() == before);
  CHECK(cudaFree(reinterpret_cast<void*>(inside)) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CHECK(cudaFree(outside) == cudaSuccess);
}

TEST_CASE("the first API's addresses have 32 bits, and only its contexts know them") {
  const auto create = first_version<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate");
  const auto allocate = first_version<CUresult(unsigned*, unsigned)>("cuMemAlloc");
  const auto release = first_version<CUresult(unsigned)>("cuMemFree");
  unsigned words[2] = {0, 0xa5a5a5a5};
  CUdeviceptr wide = 0;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK(allocate(words, 4096) == CUDA_ERROR_INVALID_CONTEXT);
  CUcontext context = nullptr;
  unsigned version = 0;
  REQUIRE(create(&context, 0, 0) == CUDA_SUCCESS);
  CHECK(cuCtxGetApiVersion(context, &version) == CUDA_SUCCESS);
  CHECK(version == 3010);
  CHECK(cuMemAlloc(&wide, 4096) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(allocate(words, 4096) == CUDA_SUCCESS);
  CHECK(words[0] != 0);
  CHECK(words[1] == 0xa5a5a5a5);  // what lies behind the 32 bits stays
  CHECK(release(words[0]) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
}

TEST_CASE(
    "a graph's memory is there from its launch to its free, and reserved until it is trimmed") {
  const stream on;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams what = node_of(6 * mebibyte);
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  REQUIRE(cudaDeviceGraphMemTrim(0) == cudaSuccess);
  const std::size_t before = free_memory();
  REQUIRE(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &what) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  CHECK(free_memory() == before);
  REQUIRE(cudaGraphLaunch(exec, on.handle) == cudaSuccess);
  CHECK(before - free_memory() == 6 * mebibyte);
  CHECK(cudaGraphLaunch(exec, on.handle) == cudaErrorInvalidValue);  // not freed yet
  CHECK(cudaFree(what.dptr) == cudaSuccess);
  std::uint64_t used = 1;
  std::uint64_t reserved = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used) == cudaSuccess);
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved) ==
        cudaSuccess);
  CHECK(used == 0);
  CHECK(reserved == 6 * mebibyte);
  CHECK(cudaDeviceGraphMemTrim(0) == cudaSuccess);
  CHECK(free_memory() == before);
  (void)cudaGetLastError();
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("an array with levels costs all of them") {
  const std::size_t before = free_memory();
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaMipmappedArray_t levels = nullptr;
  cudaArray_t second = nullptr;
  cudaExtent extent{};
  // 4 + 1 MiB: three pages of 2 MiB
  REQUIRE(cudaMallocMipmappedArray(&levels, &format, {1024, 1024, 0}, 2, 0) == cudaSuccess);
  CHECK(before - free_memory() == 6 * mebibyte);
  REQUIRE(cudaGetMipmappedArrayLevel(&second, levels, 1) == cudaSuccess);
  CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, second) == cudaSuccess);
  CHECK(extent.width == 512);
  CHECK(cudaGetMipmappedArrayLevel(&second, levels, 2) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CHECK(cudaFreeMipmappedArray(levels) == cudaSuccess);
  CHECK(free_memory() == before);
}

TEST_CASE("a pool's memory that is imported costs nothing and is freed like the pool's") {
  const stream on;
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  how.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  cudaMemPool_t imported = nullptr;
  void* memory = nullptr;
  void* same = nullptr;
  int descriptor = -1;
  cudaMemPoolPtrExportData data{};
  REQUIRE(cudaMemPoolCreate(&pool, &how) == cudaSuccess);
  REQUIRE(cudaMallocFromPoolAsync(&memory, mebibyte, pool, on.handle) == cudaSuccess);
  REQUIRE(cudaMemPoolExportToShareableHandle(&descriptor, pool, how.handleTypes, 0) == cudaSuccess);
  REQUIRE(cudaMemPoolExportPointer(&data, memory) == cudaSuccess);
  const std::size_t before = free_memory();
  auto* const handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
  REQUIRE(cudaMemPoolImportFromShareableHandle(&imported, handle, how.handleTypes, 0) ==
          cudaSuccess);
  REQUIRE(cudaMemPoolImportPointer(&same, imported, &data) == cudaSuccess);
  CHECK(same != memory);
  CHECK(free_memory() == before);
  void* none = nullptr;
  CHECK(cudaMallocFromPoolAsync(&none, 512, imported, on.handle) == cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(same, on.handle) == cudaSuccess);
  CHECK(cudaFreeAsync(memory, on.handle) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(imported) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  (void)cudaGetLastError();
  close(descriptor);
}

TEST_CASE("without NVSwitch there is no multicast") {
  CUmemGenericAllocationHandle handle = 0;
  CUmulticastObjectProp how{};
  how.numDevices = 1;
  how.size = 2 * mebibyte;
  int supported = 1;
  CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0) ==
        CUDA_SUCCESS);
  CHECK(supported == 0);
  CHECK(cuMulticastCreate(&handle, &how) == CUDA_ERROR_NOT_SUPPORTED);
}

#if CUDA_VERSION >= 12080
TEST_CASE("a checkpoint takes the process's memory off the device until it is restored") {
  void* memory = nullptr;
  const std::size_t empty = free_memory();
  REQUIRE(cudaMalloc(&memory, 8 * mebibyte) == cudaSuccess);
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  CHECK(cuCheckpointProcessCheckpoint(getpid(), nullptr) == CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(cuCheckpointProcessLock(getpid(), nullptr) == CUDA_SUCCESS);
  REQUIRE(cuCheckpointProcessCheckpoint(getpid(), nullptr) == CUDA_SUCCESS);
  CHECK(cuCheckpointProcessGetState(getpid(), &state) == CUDA_SUCCESS);
  CHECK(state == CU_PROCESS_STATE_CHECKPOINTED);
  CHECK(free_memory() > empty);  // the context is off, too
  REQUIRE(cuCheckpointProcessRestore(getpid(), nullptr) == CUDA_SUCCESS);
  REQUIRE(cuCheckpointProcessUnlock(getpid(), nullptr) == CUDA_SUCCESS);
  CHECK(empty - free_memory() == 8 * mebibyte);
  CHECK(cudaFree(memory) == cudaSuccess);
}
#endif
