// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <cudaGL.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

// cudaGL.h would need OpenGL's headers.
extern "C" CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource*, unsigned, unsigned);

namespace world {
namespace {

thread_local unsigned char slots[slot_count][slot_bytes];
alignas(64) unsigned char zero_bytes[4096];
constexpr unsigned char pattern = 0xa5;

std::mutex helper_mutex;
std::map<std::string, int>& helpers() {
  static auto* const all = new std::map<std::string, int>;
  return *all;
}

cudaStream_t the_stream;
cudaIpcMemHandle_t the_foreign_handle;
CUcontext the_old_context;

void check(int error, const char* what) {
  if (error == 0) return;
  std::fprintf(stderr, "%s: error %d\n", what, error);
  std::abort();
}
// A helping call that must succeed.
#define MUST(function, ...) check(static_cast<int>(HELP(function)(__VA_ARGS__)), #function)

// First versions, which the headers have no more.
void* in_driver(const char* name) {
  return dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), name);
}

// Addresses on the simulated device and small numbers are the same in every run; what the process
// or the kernel placed is not.
void print_word(std::uint64_t word) {
  constexpr std::uint64_t untouched = 0xa5a5a5a5a5a5a5a5;
  const bool device = word >= 0x350000000000 && word < 0x550000000000;
  if (word == untouched) {
    std::printf(" -");
  } else if (word == static_cast<std::uint64_t>(getpid())) {
    std::printf(" process");
  } else if (device || word < 65536) {
    std::printf(" %llx", static_cast<unsigned long long>(word));
  } else {
    std::printf(" set");
  }
}

}  // namespace

void clear_slots() {
  std::memset(slots, pattern, sizeof slots);
}
value out(int slot) {
  return as_value(slots[slot]);
}
value result(int slot) {
  std::uint64_t word = 0;
  std::memcpy(&word, slots[slot], sizeof word);
  return {word};
}
unsigned long long result32(int slot) {
  return result(slot).bits & 0xffffffff;
}
void print_slots() {
  for (int slot = 0; slot < slot_count; ++slot) {
    bool touched = false;
    for (const unsigned char byte : slots[slot]) touched = touched || byte != pattern;
    if (!touched) continue;
    std::printf(" | %d:", slot);
    for (int at = 0; at < slot_bytes; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, slots[slot] + at, sizeof word);
      if (word != 0xa5a5a5a5a5a5a5a5) print_word(word);
    }
  }
}
value zeroes() {
  return as_value(zero_bytes);
}

void count_helper(const char* name) {
  const std::lock_guard lock(helper_mutex);
  ++helpers()[name];
}
void print_helpers() {
  for (const auto& [name, count] : helpers()) std::printf("helper %s %d\n", name.c_str(), count);
}

void fork_exporter() {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) std::abort();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    void* memory = nullptr;
    cudaIpcMemHandle_t handle;
    if (cudaMalloc(&memory, 1 << 20) != 0 || cudaIpcGetMemHandle(&handle, memory) != 0) _exit(1);
    if (write(pipe_ends[1], &handle, sizeof handle) != sizeof handle) _exit(1);
    pause();
    _exit(0);
  }
  close(pipe_ends[1]);
  const bool got = read(pipe_ends[0], &the_foreign_handle, sizeof the_foreign_handle) ==
                   sizeof the_foreign_handle;
  if (!got) std::abort();
}

void begin() {
  MUST(cuInit, 0);
  renew();
  free_device(device_memory());  // a recording begins with the first allocation
}

void renew() {
  MUST(cudaSetDevice, 0);
  MUST(cudaStreamCreateWithFlags, &the_stream, cudaStreamNonBlocking);
}

void end() {
  MUST(cudaDeviceReset);
}

value device_memory(std::size_t bytes) {
  void* memory = nullptr;
  MUST(cudaMalloc, &memory, bytes);
  return as_value(memory);
}
value managed_memory() {
  void* memory = nullptr;
  MUST(cudaMallocManaged, &memory, 65536, cudaMemAttachGlobal);
  return as_value(memory);
}
value pinned_memory() {
  void* memory = nullptr;
  MUST(cudaMallocHost, &memory, 65536);
  return as_value(memory);
}
value plain_memory() {
  return as_value(mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
value registered_memory() {
  const value memory = plain_memory();
  MUST(cudaHostRegister, memory, 65536, 0);
  return memory;
}
value pool_memory() {
  void* memory = nullptr;
  MUST(cudaMallocAsync, &memory, 65536, the_stream);
  return as_value(memory);
}

value pool() {
  cudaMemPool_t made = nullptr;
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.location = {cudaMemLocationTypeDevice, 0};
  MUST(cudaMemPoolCreate, &made, &how);
  return as_value(made);
}
value exportable_pool() {
  cudaMemPool_t made = nullptr;
  MUST(cudaMemPoolCreate, &made, static_cast<const cudaMemPoolProps*>(pool_properties()));
  return as_value(made);
}
value pool_descriptor() {
  int descriptor = 0;
  MUST(cudaMemPoolExportToShareableHandle, &descriptor, exportable_pool(),
       cudaMemHandleTypePosixFileDescriptor, 0);
  return as_value(static_cast<unsigned long long>(descriptor));
}
value imported_pool() {
  cudaMemPool_t made = nullptr;
  MUST(cudaMemPoolImportFromShareableHandle, &made, pool_descriptor(),
       cudaMemHandleTypePosixFileDescriptor, 0);
  return as_value(made);
}
value exported_pointer() {
  thread_local cudaMemPoolPtrExportData data;
  void* memory = nullptr;
  MUST(cudaMallocFromPoolAsync, &memory, 65536, exportable_pool(), the_stream);
  MUST(cudaMemPoolExportPointer, &data, memory);
  return as_value(&data);
}

value reservation(std::size_t bytes) {
  CUdeviceptr address = 0;
  MUST(cuMemAddressReserve, &address, bytes, 0, 0, 0);
  return as_value(address);
}
value physical(std::size_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  MUST(cuMemCreate, &handle, bytes, static_cast<const CUmemAllocationProp*>(physical_properties()),
       0);
  return as_value(handle);
}
value mapped(std::size_t bytes) {
  const value address = reservation(bytes);
  const value handle = physical(bytes);
  MUST(cuMemMap, address, bytes, 0, handle, 0);
  return address;
}
value physical_descriptor() {
  int descriptor = 0;
  MUST(cuMemExportToShareableHandle, &descriptor, physical(),
       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  return as_value(static_cast<unsigned long long>(descriptor));
}
value multicast(bool complete) {
  CUmemGenericAllocationHandle handle = 0;
  MUST(cuMulticastCreate, &handle,
       static_cast<const CUmulticastObjectProp*>(multicast_properties()));
  if (complete) {
    MUST(cuMulticastAddDevice, handle, 0);
    MUST(cuMulticastAddDevice, handle, 1);
  }
  return as_value(handle);
}

value array() {
  cudaArray_t made = nullptr;
  MUST(cudaMallocArray, &made, static_cast<const cudaChannelFormatDesc*>(channels()), 64, 64, 0);
  return as_value(made);
}
value mipmapped() {
  cudaMipmappedArray_t made = nullptr;
  MUST(cudaMallocMipmappedArray, &made, static_cast<const cudaChannelFormatDesc*>(channels()),
       cudaExtent{64, 64, 0}, 3, 0);
  return as_value(made);
}

value foreign_handle() {
  return as_value(&the_foreign_handle);
}
value opened_memory() {
  void* memory = nullptr;
  MUST(cudaIpcOpenMemHandle, &memory, the_foreign_handle, cudaIpcMemLazyEnablePeerAccess);
  return as_value(memory);
}
value external_memory() {
  cudaExternalMemory_t made = nullptr;
  MUST(cudaImportExternalMemory, &made,
       static_cast<const cudaExternalMemoryHandleDesc*>(external_description()));
  return as_value(made);
}
value graphics_resource(bool mapped) {
  CUgraphicsResource made = nullptr;
  MUST(cuGraphicsGLRegisterBuffer, &made, 1, 0);
  if (mapped) MUST(cuGraphicsMapResources, 1, &made, the_stream);
  return as_value(made);
}

value graph() {
  cudaGraph_t made = nullptr;
  MUST(cudaGraphCreate, &made, 0);
  return as_value(made);
}
value graph_with_memory(value& address) {
  const value made = graph();
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams* const what = allocation_node();
  MUST(cudaGraphAddMemAllocNode, &node, made, nullptr, 0, what);
  address = as_value(what->dptr);
  return made;
}
value launchable() {
  cudaGraphExec_t made = nullptr;
  value address{0};
  MUST(cudaGraphInstantiate, &made, graph_with_memory(address),
       cudaGraphInstantiateFlagAutoFreeOnLaunch);
  return as_value(made);
}

value library() {
  CUlibrary made = nullptr;
  MUST(cuLibraryLoadData, &made, zeroes(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  return as_value(made);
}
value module() {
  CUmodule made = nullptr;
  MUST(cuModuleLoadData, &made, zeroes());
  return as_value(made);
}
value context() {
  CUcontext made = nullptr;
  MUST(cuCtxCreate, &made, nullptr, 0, 1);
  MUST(cuCtxPopCurrent, nullptr);
  return as_value(made);
}
value old_memory() {
  static const auto allocate_v1 =
      reinterpret_cast<int (*)(unsigned*, unsigned)>(in_driver("cuMemAlloc"));
  unsigned address = 0;
  count_helper("cuMemAlloc");
  check(allocate_v1(&address, 65536), "cuMemAlloc");
  return as_value(static_cast<unsigned long long>(address));
}
int retained_primary() {
  CUcontext made = nullptr;
  MUST(cuDevicePrimaryCtxRetain, &made, 0);
  return 0;
}
void release_primary() {
  MUST(cuDevicePrimaryCtxRelease, 0);
}
value green_description() {
  CUdevResource all{};
  CUdevResourceDesc made = nullptr;
  MUST(cuDeviceGetDevResource, 0, &all, CU_DEV_RESOURCE_TYPE_SM);
  MUST(cuDevResourceGenerateDesc, &made, &all, 1);
  return as_value(made);
}
value green() {
  CUgreenCtx made = nullptr;
  MUST(cuGreenCtxCreate, &made, green_description(), 0, CU_GREEN_CTX_DEFAULT_STREAM);
  return as_value(made);
}

value batch_addresses() {
  thread_local CUdeviceptr list[2];
  list[0] = managed_memory();
  list[1] = managed_memory();
  return as_value(list);
}
value batch_sizes() {
  static std::size_t list[2] = {65536, 65536};
  return as_value(list);
}

void free_device(value address) {
  MUST(cudaFree, address);
}
void free_old(unsigned long long address) {
  // The header's name is the second version, which refuses a context of the first.
  use_old_context(true);
  static const auto free_v1 = reinterpret_cast<int (*)(unsigned)>(in_driver("cuMemFree"));
  count_helper("cuMemFree");
  check(free_v1(static_cast<unsigned>(address)), "cuMemFree");
}
void free_pinned(value address) {
  MUST(cudaFreeHost, address);
}
void free_async(value address) {
  MUST(cudaFreeAsync, address, the_stream);
}
void free_array(value handle) {
  MUST(cudaFreeArray, handle);
}
void unregister(value address) {
  MUST(cudaHostUnregister, address);
}
void destroy_pool(value handle) {
  MUST(cudaMemPoolDestroy, handle);
}
void close_descriptor(value descriptor) {
  close(static_cast<int>(descriptor.bits));
}
void unreserve(value address, std::size_t bytes) {
  MUST(cuMemAddressFree, address, bytes);
}
void release(value handle) {
  MUST(cuMemRelease, handle);
}
void unmap(value address) {
  MUST(cuMemUnmap, address, 2 << 20);
}
void close_opened(value address) {
  MUST(cudaIpcCloseMemHandle, address);
}
void destroy_external(value handle) {
  MUST(cudaDestroyExternalMemory, handle);
}
void destroy_context(value handle) {
  MUST(cuCtxDestroy, handle);
  MUST(cudaSetDevice, 0);
}
void destroy_green(value handle) {
  MUST(cuGreenCtxDestroy, handle);
}
void unload_module(value handle) {
  MUST(cuModuleUnload, handle);
}
void unload_library(value handle) {
  MUST(cuLibraryUnload, handle);
}

value stream() {
  return as_value(the_stream);
}
void use_old_context(bool use) {
  if (!use) {
    MUST(cudaSetDevice, 0);
    return;
  }
  if (the_old_context == nullptr) {
    static const auto create_v1 =
        reinterpret_cast<int (*)(CUcontext*, unsigned, int)>(in_driver("cuCtxCreate"));
    count_helper("cuCtxCreate");
    check(create_v1(&the_old_context, 0, 0), "cuCtxCreate");
  }
  MUST(cuCtxSetCurrent, the_old_context);
}
void use_device(int device) {
  MUST(cudaSetDevice, device);
}
void begin_capture() {
  MUST(cudaStreamBeginCapture, the_stream, cudaStreamCaptureModeGlobal);
}
int end_capture() {
  cudaGraph_t made = nullptr;
  const int error = static_cast<int>(HELP(cudaStreamEndCapture)(the_stream, &made));
  if (made != nullptr) MUST(cudaGraphDestroy, made);
  return error;
}

}  // namespace world
