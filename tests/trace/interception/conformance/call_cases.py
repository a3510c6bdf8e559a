# SPDX-License-Identifier: Apache-2.0
"""Arguments with which each hooked function succeeds, by its name without version and _ptsz.

C++ over world.h: the arguments, then what ends what the call made.
"""

OUT = "out(0)"
MIB = "1 << 20"

success = {
    # Device, managed and host memory
    "cudaMalloc": (f"{OUT}, 3000000", "free_device(result(0))"),
    "cudaMallocManaged": (f"{OUT}, 65536, 1", "free_device(result(0))"),
    "cudaMallocPitch": (f"{OUT}, out(1), 1000, 50", "free_device(result(0))"),
    "cudaMalloc3D": (f"{OUT}, memtrace::cuda_extent{{1000, 50, 3}}", "free_device(result(0))"),
    "cudaFree": ("device_memory()", ""),
    "cudaMallocHost": (f"{OUT}, 65536", "free_pinned(result(0))"),
    "cudaHostAlloc": (f"{OUT}, 65536, 1", "free_pinned(result(0))"),
    "cudaHostRegister": ("given = plain_memory(), 65536, 0", "unregister(given)"),
    "cudaFreeHost": ("pinned_memory()", ""),
    "cudaHostUnregister": ("registered_memory()", ""),
    "cuMemAlloc": (f"{OUT}, 3000000", "free_device(result(0))"),
    "cuMemAllocPitch": (f"{OUT}, out(1), 1000, 50, 16", "free_device(result(0))"),
    "cuMemAllocManaged": (f"{OUT}, 65536, 1", "free_device(result(0))"),
    "cuMemFree": ("device_memory()", ""),
    "cuMemAllocHost": (f"{OUT}, 65536", "free_pinned(result(0))"),
    "cuMemHostAlloc": (f"{OUT}, 65536, 1", "free_pinned(result(0))"),
    "cuMemHostRegister": ("given = plain_memory(), 65536, 0", "unregister(given)"),
    "cuMemFreeHost": ("pinned_memory()", ""),
    "cuMemHostUnregister": ("registered_memory()", ""),
    # Pools
    "cudaMallocAsync": (f"{OUT}, {MIB}, stream()", "free_async(result(0))"),
    "cudaMallocFromPoolAsync": (f"{OUT}, {MIB}, pool(), stream()", "free_async(result(0))"),
    "cudaFreeAsync": ("pool_memory(), stream()", ""),
    "cudaMemPoolCreate": (f"{OUT}, pool_properties()", "destroy_pool(result(0))"),
    "cudaMemPoolDestroy": ("pool()", ""),
    "cudaMemPoolTrimTo": ("given = pool(), 0", "destroy_pool(given)"),
    "cudaMemPoolSetAttribute": ("given = pool(), 4, attribute_value(1 << 30)", "destroy_pool(given)"),
    "cudaMemPoolSetAccess": ("given = pool(), access(), 1", "destroy_pool(given)"),
    "cudaDeviceGetDefaultMemPool": (f"{OUT}, 0", ""),
    "cudaDeviceGetMemPool": (f"{OUT}, 0", ""),
    "cudaDeviceSetMemPool": ("0, given = pool()", "destroy_pool(given)"),
    "cudaMemGetDefaultMemPool": (f"{OUT}, location(), 1", ""),
    "cudaMemGetMemPool": (f"{OUT}, location(), 1", ""),
    "cudaMemSetMemPool": ("location(), 1, given = pool()", "destroy_pool(given)"),
    "cudaMemPoolExportToShareableHandle": (f"{OUT}, exportable_pool(), 1, 0", ""),
    "cudaMemPoolImportFromShareableHandle": (f"{OUT}, pool_descriptor(), 1, 0", "destroy_pool(result(0))"),
    "cudaMemPoolExportPointer": (f"{OUT}, given = pool_memory()", "free_async(given)"),
    "cudaMemPoolImportPointer": (f"{OUT}, imported_pool(), exported_pointer()", "free_async(result(0))"),
    # Virtual memory
    "cuMemAddressReserve": (f"{OUT}, 2 << 20, 0, 0, 0", "unreserve(result(0))"),
    "cuMemAddressFree": ("reservation(), 2 << 20", ""),
    "cuMemCreate": (f"{OUT}, 2 << 20, physical_properties(), 0", "release(result(0))"),
    "cuMemRelease": ("physical()", ""),
    "cuMemRetainAllocationHandle": (f"{OUT}, mapped()", "release(result(0))"),
    "cuMemMap": ("given = reservation(), 2 << 20, 0, physical(), 0", "unmap(given)"),
    "cuMemUnmap": ("mapped(), 2 << 20", ""),
    "cuMemSetAccess": ("given = mapped(), 2 << 20, access(), 1", "unmap(given)"),
    "cuMemExportToShareableHandle": (f"{OUT}, physical(), 1, 0", ""),
    "cuMemImportFromShareableHandle": (f"{OUT}, physical_descriptor(), 1", "release(result(0))"),
    "cuMemGetHandleForAddressRange": (f"{OUT}, device_memory(2 << 20), 2 << 20, 1, 0", ""),
    "cuMulticastCreate": (f"{OUT}, multicast_properties()", "release(result(0))"),
    "cuMulticastAddDevice": ("given = multicast(false), 0", "release(given)"),
    "cuMulticastBindMem": ("multicast(true), 0, physical(), 0, 2 << 20, 0", ""),
    "cuMulticastBindAddr": ("multicast(true), 0, mapped(), 2 << 20, 0", ""),
    "cuMulticastUnbind": ("multicast(true), 0, 0, 2 << 20", ""),
    # Arrays
    "cudaMallocArray": (f"{OUT}, channels(), 100, 7, 0", "free_array(result(0))"),
    "cudaMalloc3DArray": (f"{OUT}, channels(), memtrace::cuda_extent{{100, 7, 3}}, 0", "free_array(result(0))"),
    "cudaMallocMipmappedArray": (f"{OUT}, channels(), memtrace::cuda_extent{{64, 64, 0}}, 4, 0", "free_array(result(0))"),
    "cudaFreeArray": ("array()", ""),
    "cudaFreeMipmappedArray": ("mipmapped()", ""),
    "cuArrayCreate": (f"{OUT}, array_shape()", "free_array(result(0))"),
    "cuArray3DCreate": (f"{OUT}, array3d_shape()", "free_array(result(0))"),
    "cuMipmappedArrayCreate": (f"{OUT}, array3d_shape(), 2", "free_array(result(0))"),
    "cuArrayDestroy": ("array()", ""),
    "cuMipmappedArrayDestroy": ("mipmapped()", ""),
    # Memory of others
    "cudaIpcGetMemHandle": (f"{OUT}, device_memory()", ""),
    "cudaIpcOpenMemHandle": (f"{OUT}, by_value(foreign_handle()), 1", "close_opened(result(0))"),
    "cudaIpcCloseMemHandle": ("opened_memory()", ""),
    "cudaImportExternalMemory": (f"{OUT}, external_description()", "destroy_external(result(0))"),
    "cudaExternalMemoryGetMappedBuffer": (f"{OUT}, external_memory(), buffer_description()", "free_device(result(0))"),
    "cudaExternalMemoryGetMappedMipmappedArray": (f"{OUT}, external_memory(), external_array_description(true)", ""),
    "cudaDestroyExternalMemory": ("external_memory()", ""),
    "cudaGraphicsMapResources": ("1, list_of(graphics_resource(false)), stream()", ""),
    "cudaGraphicsResourceGetMappedPointer": (f"{OUT}, out(1), graphics_resource(true)", ""),
    "cudaGraphicsUnmapResources": ("1, list_of(graphics_resource(true)), stream()", ""),
    # Graphs
    "cudaGraphAddMemAllocNode": (f"{OUT}, graph(), nullptr, 0, allocation_node()", ""),
    "cudaGraphAddMemFreeNode": (f"{OUT}, graph_with_memory(given), nullptr, 0, given", ""),
    "cudaGraphAddNode": (f"{OUT}, graph(), nullptr, 0, 0, any_node(true)", ""),
    "cuGraphAddNode": (f"{OUT}, graph(), nullptr, 0, any_node(true)", ""),
    "cudaGraphLaunch": ("launchable(), stream()", ""),
    "cudaDeviceGraphMemTrim": ("0", ""),
    "cudaDeviceGetGraphMemAttribute": (f"0, 2, {OUT}", ""),
    "cudaDeviceSetGraphMemAttribute": ("0, 3, zeroes()", ""),
    # Hints
    "cudaMemPrefetchAsync": ("managed_memory(), 65536, location_bits(), 0, stream()", ""),
    "cuMemPrefetchAsync": ("managed_memory(), 65536, 0, stream()", ""),
    "cudaMemAdvise": ("managed_memory(), 65536, 1, location_bits()", ""),
    "cuMemAdvise": ("managed_memory(), 65536, 1, 0", ""),
    "cudaMemPrefetchBatchAsync": ("batch_addresses(), batch_sizes(), 2, location(), zero_index(), 1, 0, stream()", ""),
    "cudaMemDiscardBatchAsync": ("batch_addresses(), batch_sizes(), 2, 0, stream()", ""),
    "cudaMemDiscardAndPrefetchBatchAsync": ("batch_addresses(), batch_sizes(), 2, location(), zero_index(), 1, 0, stream()", ""),
    "cudaStreamAttachMemAsync": ("stream(), managed_memory(), 0, 1", ""),
    # Contexts
    "cudaDeviceReset": ("", ""),
    "cudaDeviceSetLimit": ("0, 2048", ""),
    "cuCtxCreate": (f"{OUT}, 0, 1", "destroy_context(result(0))"),
    "cuCtxDestroy": ("context()", ""),
    "cuDevicePrimaryCtxRetain": (f"{OUT}, 0", "release_primary()"),
    "cuDevicePrimaryCtxRelease": ("retained_primary()", ""),
    "cuDevicePrimaryCtxReset": ("0", ""),
    "cuGreenCtxCreate": (f"{OUT}, green_description(), 0, 1", "destroy_green(result(0))"),
    "cuGreenCtxDestroy": ("green()", ""),
    "cuCheckpointProcessLock": ("getpid(), nullptr", ""),
    "cuCheckpointProcessCheckpoint": ("getpid(), nullptr", ""),
    "cuCheckpointProcessRestore": ("getpid(), nullptr", ""),
    "cuCheckpointProcessUnlock": ("getpid(), nullptr", ""),
    # Code
    "cudaLibraryLoadData": (f"{OUT}, zeroes(), nullptr, nullptr, 0, nullptr, nullptr, 0", "unload_library(result(0))"),
    "cudaLibraryLoadFromFile": (f"{OUT}, text(\"kernels.cubin\"), nullptr, nullptr, 0, nullptr, nullptr, 0", "unload_library(result(0))"),
    "cudaLibraryUnload": ("library()", ""),
    "cuModuleLoad": (f"{OUT}, text(\"kernels.cubin\")", "unload_module(result(0))"),
    "cuModuleLoadData": (f"{OUT}, zeroes()", "unload_module(result(0))"),
    "cuModuleLoadDataEx": (f"{OUT}, zeroes(), 0, nullptr, nullptr", "unload_module(result(0))"),
    "cuModuleLoadFatBinary": (f"{OUT}, zeroes()", "unload_module(result(0))"),
    "cuModuleUnload": ("module()", ""),
}

# The driver's twins of the runtime's functions, with the same arguments.
for name in ("MallocAsync", "MallocFromPoolAsync"):
    success["cuMem" + name.replace("Malloc", "Alloc")] = success["cuda" + name]
for name in ("FreeAsync", "PoolCreate", "PoolDestroy", "PoolTrimTo", "PoolSetAttribute", "PoolSetAccess",
             "PoolExportToShareableHandle", "PoolImportFromShareableHandle", "PoolExportPointer",
             "PoolImportPointer", "GetDefaultMemPool", "GetMemPool", "SetMemPool", "PrefetchBatchAsync",
             "DiscardBatchAsync", "DiscardAndPrefetchBatchAsync"):
    of_runtime = "cudaFreeAsync" if name == "FreeAsync" else "cudaMem" + name
    success["cuMem" + name] = success[of_runtime]
for name in ("DeviceGetDefaultMemPool", "DeviceGetMemPool", "DeviceSetMemPool", "IpcGetMemHandle",
             "IpcOpenMemHandle", "IpcCloseMemHandle", "ImportExternalMemory", "ExternalMemoryGetMappedBuffer",
             "DestroyExternalMemory", "GraphicsMapResources", "GraphicsResourceGetMappedPointer",
             "GraphicsUnmapResources", "GraphAddMemAllocNode", "GraphAddMemFreeNode", "GraphLaunch",
             "DeviceGraphMemTrim", "DeviceGetGraphMemAttribute", "DeviceSetGraphMemAttribute",
             "StreamAttachMemAsync", "LibraryLoadData", "LibraryLoadFromFile", "LibraryUnload"):
    success["cu" + name] = success["cuda" + name]
success["cuExternalMemoryGetMappedMipmappedArray"] = (
    f"{OUT}, external_memory(), external_array_description(false)", "")
success["cuCtxSetLimit"] = success["cudaDeviceSetLimit"]

# By the whole name, where a version has other arguments than the others.
exact = {
    # The API before 3.2 has addresses of 32 bits, in contexts of their own
    "cuMemAlloc": (f"{OUT}, 3000000", "free_old(result32(0))"),
    "cuMemAllocPitch": (f"{OUT}, out(1), 1000, 50, 16", "free_old(result32(0))"),
    "cuMemFree": ("old_memory()", ""),
    "cuMemAllocHost": success["cuMemAllocHost"],
    "cuArrayCreate": (f"{OUT}, old_array_shape()", "free_array(result(0))"),
    "cuArray3DCreate": (f"{OUT}, old_array3d_shape()", "free_array(result(0))"),
    "cuCtxCreate_v3": (f"{OUT}, nullptr, 0, 0, 1", "destroy_context(result(0))"),
    "cuCtxCreate_v4": (f"{OUT}, nullptr, 0, 1", "destroy_context(result(0))"),
    "cuGraphAddNode_v2": (f"{OUT}, graph(), nullptr, nullptr, 0, any_node(true)", ""),
    "cuMemPrefetchAsync_v2": ("managed_memory(), 65536, location_bits(), 0, stream()", ""),
    "cuMemAdvise_v2": ("managed_memory(), 65536, 1, location_bits()", ""),
}

# In a context of the first cuCtxCreate; the last cannot succeed, since nothing foreign has such
# an address.
old = {"cuMemAlloc", "cuMemAllocPitch", "cuMemFree", "cuMemAllocHost", "cuArrayCreate", "cuArray3DCreate",
       "cuGraphicsResourceGetMappedPointer"}

# No simulated device has sparse arrays; nothing of OpenGL has an address of 32 bits.
never_succeeds = {"cuMemMapArrayAsync", "cuGraphicsResourceGetMappedPointer"}
success["cuMemMapArrayAsync"] = ("list_of(value{0}), 1, stream()", "")

# They end what others use, or need each other's order: never at the same time as others.
alone = {"cudaDeviceReset", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", "cudaDeviceSetMemPool",
         "cuDeviceSetMemPool", "cudaMemSetMemPool", "cuMemSetMemPool", "cuCheckpointProcessLock",
         "cuCheckpointProcessCheckpoint", "cuCheckpointProcessRestore", "cuCheckpointProcessUnlock",
         "cuCtxCreate", "cuCtxCreate_v2", "cuCtxCreate_v3", "cuCtxCreate_v4", "cuCtxDestroy", "cuCtxDestroy_v2",
         "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRetain",
         "cuGreenCtxCreate", "cuGreenCtxDestroy"} | old

resets = {"cudaDeviceReset", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2"}

# Failing arguments where the general ones would not fail, or would hurt: a whole line instead.
failing = {
    "cudaHostRegister": "nullptr, 65536, 0",
    "cuMemHostRegister": "nullptr, 65536, 0",
    "cuMemHostRegister_v2": "nullptr, 65536, 0",
    "cudaDeviceReset": None,
    "cudaGraphAddNode": "out(0), value{0x1234560}, nullptr, 0, 0, any_node(true)",
    "cuModuleLoad": "out(0), nullptr",
    "cuModuleLoadData": "out(0), nullptr",
    "cuModuleLoadDataEx": "out(0), nullptr, 0, nullptr, nullptr",
    "cuModuleLoadFatBinary": "out(0), nullptr",
    "cudaLibraryLoadData": "out(0), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0",
    "cuLibraryLoadData": "out(0), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0",
    "cudaLibraryLoadFromFile": "out(0), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0",
    "cuLibraryLoadFromFile": "out(0), nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0",
}

# More that is asked of those that release: the same again, from another device, what was never
# given, and the inside of what was.
releases_device_memory = {"cudaFree", "cuMemFree_v2"}
