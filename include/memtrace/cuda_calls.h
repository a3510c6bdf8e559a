// SPDX-License-Identifier: Apache-2.0
//
// How the CUDA calls in a trace (record cuda_call) change memory: shared by the hooks
// that record them and the analyzer that adds up. A name stands for all its versions: _v2, _v3 and
// the per-thread-stream variants _ptsz and _ptds are left out here.
//
// The fields of the record by effect (0 where nothing is said); sizes are bytes as the program
// asked for them, before the driver rounds up:
//
//   device         address, size, handle: context     device memory of this process
//   managed        address, size, handle: context     unified memory: wherever it is touched
//   pinned         address, size, handle: context     host memory that the driver allocates
//   registered     address, size, handle: context     host memory of the program, pinned
//                                                     (context: one that the program made, with
//                                                     which the memory ends; 0: the device's own)
//   release        address                            ends what lives there: any of the above,
//                                                     pool_memory, foreign too
//   pool_memory    address, size, handle: pool        from a stream-ordered pool (0: the device's)
//   pool_release   address, handle: stream
//   pool           handle                             made; imported ones hold foreign memory
//   pool_end       handle
//   physical       size, handle                       memory without an address; counted until its
//                                                     last release and its last unmap
//   physical_release  handle
//   physical_retain   address, handle                 one more release to come
//   reserve, unreserve   address, size                address space only, never usage
//   map            address, size, handle
//   unmap          address, size                      may be a part of a mapping, or several
//   array          size (an estimate), handle
//   array_end      handle
//   foreign        address, size, handle              memory of another process, opened here: no
//                                                     new bytes; size 0 where the driver does not
//                                                     tell
//   foreign_end    address
//   foreign_physical  size (0: unknown), handle       the same without an address
//   exported       address, handle                    made known to other processes: changes no sum
//                                                     (handle of exported and of foreign memory by
//                                                     IPC: FNV-1a, 64 bits, of the 64 bytes that
//                                                     the driver gave, equal in both processes)
//   multicast      size, handle                       joins memory of several devices: no new bytes
//   graph_memory   address, size, handle: graph       a node that allocates when its graph runs
//   graph_release  address, handle: graph
//   context        handle                             made, or the device's own taken into use
//   context_end    handle                             ends what lived in it; of a device's own
//                                                     context (cuDevicePrimaryCtxRelease) only the
//                                                     last release is there, after it
//   device_end     nothing                            ends everything on the record's device
//   module         size, handle                       code and its variables; size is by difference
//                                                     of the device's free memory around the call
//   module_end     handle
//   limit          address: which limit, size         heap, stack, buffers of the context
//   gap            handle: process id                 from here on recorded addresses may not hold
//                                                     (a process checkpoint)
#pragma once

#include <cstdint>
#include <string_view>

namespace memtrace::format {

enum class cuda_effect : std::uint8_t {
  none,
  device,
  managed,
  pinned,
  registered,
  release,
  pool_memory,
  pool_release,
  pool,
  pool_end,
  physical,
  physical_release,
  physical_retain,
  reserve,
  unreserve,
  map,
  unmap,
  array,
  array_end,
  foreign,
  foreign_end,
  foreign_physical,
  exported,
  multicast,
  graph_memory,
  graph_release,
  context,
  context_end,
  device_end,
  module,
  module_end,
  limit,
  gap,
};

struct cuda_call_meaning {
  std::string_view name;
  cuda_effect effect;
};

inline constexpr cuda_call_meaning cuda_calls[] = {
    // device memory
    {"cudaMalloc", cuda_effect::device},
    {"cudaMallocPitch", cuda_effect::device},
    {"cudaMalloc3D", cuda_effect::device},
    {"cudaMallocManaged", cuda_effect::managed},
    {"cudaFree", cuda_effect::release},
    {"cuMemAlloc", cuda_effect::device},
    {"cuMemAllocPitch", cuda_effect::device},
    {"cuMemAllocManaged", cuda_effect::managed},
    {"cuMemFree", cuda_effect::release},
    // host memory
    {"cudaMallocHost", cuda_effect::pinned},
    {"cudaHostAlloc", cuda_effect::pinned},
    {"cudaHostRegister", cuda_effect::registered},
    {"cudaFreeHost", cuda_effect::release},
    {"cudaHostUnregister", cuda_effect::release},
    {"cuMemAllocHost", cuda_effect::pinned},
    {"cuMemHostAlloc", cuda_effect::pinned},
    {"cuMemHostRegister", cuda_effect::registered},
    {"cuMemFreeHost", cuda_effect::release},
    {"cuMemHostUnregister", cuda_effect::release},
    // stream-ordered pools
    {"cudaMallocAsync", cuda_effect::pool_memory},
    {"cudaMallocFromPoolAsync", cuda_effect::pool_memory},
    {"cudaFreeAsync", cuda_effect::pool_release},
    {"cudaMemPoolCreate", cuda_effect::pool},
    {"cudaMemPoolDestroy", cuda_effect::pool_end},
    {"cudaMemPoolImportFromShareableHandle", cuda_effect::pool},
    {"cudaMemPoolImportPointer", cuda_effect::foreign},
    {"cuMemAllocAsync", cuda_effect::pool_memory},
    {"cuMemAllocFromPoolAsync", cuda_effect::pool_memory},
    {"cuMemFreeAsync", cuda_effect::pool_release},
    {"cuMemPoolCreate", cuda_effect::pool},
    {"cuMemPoolDestroy", cuda_effect::pool_end},
    {"cuMemPoolImportFromShareableHandle", cuda_effect::pool},
    {"cuMemPoolImportPointer", cuda_effect::foreign},
    // virtual memory management
    {"cuMemCreate", cuda_effect::physical},
    {"cuMemRelease", cuda_effect::physical_release},
    {"cuMemRetainAllocationHandle", cuda_effect::physical_retain},
    {"cuMemAddressReserve", cuda_effect::reserve},
    {"cuMemAddressFree", cuda_effect::unreserve},
    {"cuMemMap", cuda_effect::map},
    {"cuMemUnmap", cuda_effect::unmap},
    {"cuMemImportFromShareableHandle", cuda_effect::foreign_physical},
    {"cuMulticastCreate", cuda_effect::multicast},
    // arrays
    {"cudaMallocArray", cuda_effect::array},
    {"cudaMalloc3DArray", cuda_effect::array},
    {"cudaMallocMipmappedArray", cuda_effect::array},
    {"cudaFreeArray", cuda_effect::array_end},
    {"cudaFreeMipmappedArray", cuda_effect::array_end},
    {"cuArrayCreate", cuda_effect::array},
    {"cuArray3DCreate", cuda_effect::array},
    {"cuMipmappedArrayCreate", cuda_effect::array},
    {"cuArrayDestroy", cuda_effect::array_end},
    {"cuMipmappedArrayDestroy", cuda_effect::array_end},
    // memory of others
    {"cudaImportExternalMemory", cuda_effect::foreign_physical},
    {"cudaDestroyExternalMemory", cuda_effect::physical_release},
    {"cuImportExternalMemory", cuda_effect::foreign_physical},
    {"cuDestroyExternalMemory", cuda_effect::physical_release},
    {"cudaIpcGetMemHandle", cuda_effect::exported},
    {"cudaMemPoolExportPointer", cuda_effect::exported},
    {"cuMemPoolExportPointer", cuda_effect::exported},
    {"cudaIpcOpenMemHandle", cuda_effect::foreign},
    {"cudaIpcCloseMemHandle", cuda_effect::foreign_end},
    {"cudaExternalMemoryGetMappedBuffer", cuda_effect::foreign},
    {"cudaGraphicsResourceGetMappedPointer", cuda_effect::foreign},
    {"cuIpcGetMemHandle", cuda_effect::exported},
    {"cuIpcOpenMemHandle", cuda_effect::foreign},
    {"cuIpcCloseMemHandle", cuda_effect::foreign_end},
    {"cuExternalMemoryGetMappedBuffer", cuda_effect::foreign},
    {"cuGraphicsResourceGetMappedPointer", cuda_effect::foreign},
    // graphs
    {"cudaGraphAddMemAllocNode", cuda_effect::graph_memory},
    {"cudaGraphAddMemFreeNode", cuda_effect::graph_release},
    {"cuGraphAddMemAllocNode", cuda_effect::graph_memory},
    {"cuGraphAddMemFreeNode", cuda_effect::graph_release},
    // stream-ordered calls whose stream is being captured
    {"cudaMallocAsync (captured)", cuda_effect::graph_memory},
    {"cudaMallocFromPoolAsync (captured)", cuda_effect::graph_memory},
    {"cudaFreeAsync (captured)", cuda_effect::graph_release},
    {"cuMemAllocAsync (captured)", cuda_effect::graph_memory},
    {"cuMemAllocFromPoolAsync (captured)", cuda_effect::graph_memory},
    {"cuMemFreeAsync (captured)", cuda_effect::graph_release},
    // contexts and devices
    {"cudaDeviceReset", cuda_effect::device_end},
    {"cudaThreadExit", cuda_effect::device_end},
    {"cuCtxCreate", cuda_effect::context},
    {"cuCtxDestroy", cuda_effect::context_end},
    {"cuDevicePrimaryCtxRetain", cuda_effect::context},
    {"cuDevicePrimaryCtxRelease", cuda_effect::context_end},
    {"cuDevicePrimaryCtxReset", cuda_effect::device_end},
    {"cuGreenCtxCreate", cuda_effect::context},
    {"cuGreenCtxDestroy", cuda_effect::context_end},
    {"cudaDeviceSetLimit", cuda_effect::limit},
    {"cudaThreadSetLimit", cuda_effect::limit},
    {"cuCtxSetLimit", cuda_effect::limit},
    {"cuCheckpointProcessCheckpoint", cuda_effect::gap},
    {"cuCheckpointProcessRestore", cuda_effect::gap},
    // modules
    {"cudaLibraryLoadData", cuda_effect::module},
    {"cudaLibraryLoadFromFile", cuda_effect::module},
    {"cudaLibraryUnload", cuda_effect::module_end},
    {"cuModuleLoad", cuda_effect::module},
    {"cuModuleLoadData", cuda_effect::module},
    {"cuModuleLoadDataEx", cuda_effect::module},
    {"cuModuleLoadFatBinary", cuda_effect::module},
    {"cuModuleUnload", cuda_effect::module_end},
    {"cuLibraryLoadData", cuda_effect::module},
    {"cuLibraryLoadFromFile", cuda_effect::module},
    {"cuLibraryUnload", cuda_effect::module_end},
};

// The name without _v2, _ptsz and the like.
[[nodiscard]] constexpr std::string_view base_name(std::string_view api) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (api.ends_with(suffix)) api.remove_suffix(suffix.size());
  }
  if (api.size() > 3 && api.substr(api.size() - 3, 2) == "_v" && api.back() >= '2' &&
      api.back() <= '9') {
    api.remove_suffix(3);
  }
  return api;
}

// `none` for a call that is not listed.
[[nodiscard]] constexpr cuda_effect effect_of(std::string_view api) {
  const std::string_view name = base_name(api);
  for (const auto& known : cuda_calls) {
    if (known.name == name) return known.effect;
  }
  return cuda_effect::none;
}

}  // namespace memtrace::format
