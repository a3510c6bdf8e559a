// SPDX-License-Identifier: Apache-2.0
//
// How the calls describe what they want.
#include <fcntl.h>

#include <cstring>

#include "world.h"

namespace world {

value physical_properties() {
  static const CUmemAllocationProp how = [] {
    CUmemAllocationProp made{};
    made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    made.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    made.location.id = 1;  // not the current device
    return made;
  }();
  return as_value(&how);
}
value pool_properties() {
  static const cudaMemPoolProps how = [] {
    cudaMemPoolProps made{};
    made.allocType = cudaMemAllocationTypePinned;
    made.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    made.location = {cudaMemLocationTypeDevice, 0};
    return made;
  }();
  return as_value(&how);
}
value location() {
  static cudaMemLocation where{cudaMemLocationTypeDevice, 0};
  return as_value(&where);
}
value location_bits() {
  return as_value(static_cast<unsigned long long>(CU_MEM_LOCATION_TYPE_DEVICE));
}
value access() {
  static const CUmemAccessDesc how = [] {
    CUmemAccessDesc made{};
    made.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    made.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return made;
  }();
  return as_value(&how);
}
value channels() {
  static const cudaChannelFormatDesc format{32, 32, 0, 0, cudaChannelFormatKindFloat};
  return as_value(&format);
}
value array_shape() {
  static const CUDA_ARRAY_DESCRIPTOR shape{64, 64, CU_AD_FORMAT_FLOAT, 2};
  return as_value(&shape);
}
value array3d_shape() {
  static const CUDA_ARRAY3D_DESCRIPTOR shape{64, 64, 4, CU_AD_FORMAT_HALF, 4, 0};
  return as_value(&shape);
}
// As the headers had them until CUDA 3.1.
value old_array_shape() {
  static const unsigned shape[] = {64, 64, CU_AD_FORMAT_FLOAT, 2};
  return as_value(&shape);
}
value old_array3d_shape() {
  static const unsigned shape[] = {64, 64, 4, CU_AD_FORMAT_HALF, 4, 0};
  return as_value(&shape);
}
value multicast_properties() {
  static const CUmulticastObjectProp how{2, 2 << 20, 0, 0};
  return as_value(&how);
}
value external_description() {
  thread_local CUDA_EXTERNAL_MEMORY_HANDLE_DESC how;
  how = {};
  how.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  how.handle.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  how.size = 4 << 20;
  return as_value(&how);
}
value buffer_description() {
  static const CUDA_EXTERNAL_MEMORY_BUFFER_DESC how = [] {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC made{};
    made.size = 1 << 20;
    return made;
  }();
  return as_value(&how);
}
value external_array_description(bool runtime) {
  static const cudaExternalMemoryMipmappedArrayDesc of_runtime = [] {
    cudaExternalMemoryMipmappedArrayDesc made{};
    made.extent = {64, 64, 0};
    made.numLevels = 2;
    return made;
  }();
  static const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC of_driver = [] {
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC made{};
    made.arrayDesc = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    made.numLevels = 2;
    return made;
  }();
  return runtime ? as_value(&of_runtime) : as_value(&of_driver);
}
value allocation_node() {
  thread_local CUDA_MEM_ALLOC_NODE_PARAMS what;
  what = {};
  what.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  what.bytesize = 1 << 20;
  return as_value(&what);
}
value any_node(bool allocates) {
  thread_local CUgraphNodeParams what;
  std::memset(&what, 0, sizeof what);
  what.type = allocates ? CU_GRAPH_NODE_TYPE_MEM_ALLOC : CU_GRAPH_NODE_TYPE_EMPTY;
  if (allocates) std::memcpy(&what.alloc, allocation_node(), sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
  return as_value(&what);
}
value list_of(value one) {
  thread_local value list;
  list = one;
  return as_value(&list);
}
value attribute_value(unsigned long long number) {
  thread_local unsigned long long kept;
  kept = number;
  return as_value(&kept);
}
value zero_index() {
  static std::size_t index = 0;
  return as_value(&index);
}

}  // namespace world
