// SPDX-License-Identifier: Apache-2.0
//
// Device, pitched, managed and pinned memory, registered memory, an array; from two threads.
#include <thread>
#include <vector>

#include "say.h"

namespace {

constexpr size_t size = 8 << 20;

void fill_and_free(CUcontext context) {
  cuCtxSetCurrent(context);
  for (int i = 0; i < 100; ++i) {
    CUdeviceptr memory = 0;
    if (cuMemAlloc(&memory, size) != CUDA_SUCCESS) std::exit(1);
    cuMemsetD8(memory, 7, size);
    if (cuMemFree(memory) != CUDA_SUCCESS) std::exit(1);
  }
}

}  // namespace

int main() {
  const CUdevice device = first_device_with_context();
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);

  CUdeviceptr plain = 0;
  must("cuMemAlloc", cuMemAlloc(&plain, size));
  must("cuMemsetD8", cuMemsetD8(plain, 42, size));
  CUdeviceptr pitched = 0;
  size_t pitch = 0;
  must("cuMemAllocPitch", cuMemAllocPitch(&pitched, &pitch, 1000, 100, 4));
  std::printf("a pitch of whole 4 bytes, not below the width: %d\n",
              pitch >= 1000 && pitch % 4 == 0);
  CUdeviceptr managed = 0;
  must("cuMemAllocManaged", cuMemAllocManaged(&managed, size, CU_MEM_ATTACH_GLOBAL));

  void* pinned = nullptr;
  must("cuMemHostAlloc", cuMemHostAlloc(&pinned, size, 0));
  static_cast<unsigned char*>(pinned)[size - 1] = 1;
  must("cuMemcpyDtoH", cuMemcpyDtoH(pinned, plain, size));
  std::vector<unsigned char> own(size);
  must("cuMemHostRegister", cuMemHostRegister(own.data(), own.size(), 0));
  must("cuMemHostUnregister", cuMemHostUnregister(own.data()));

  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = 512;
  shape.Height = 512;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  CUarray array = nullptr;
  must("cuArrayCreate", cuArrayCreate(&array, &shape));

  std::thread first(fill_and_free, context);
  std::thread second(fill_and_free, context);
  first.join();
  second.join();

  must("cuArrayDestroy", cuArrayDestroy(array));
  must("cuMemFreeHost", cuMemFreeHost(pinned));
  must("cuMemFree managed", cuMemFree(managed));
  must("cuMemFree pitched", cuMemFree(pitched));
  must("cuMemFree", cuMemFree(plain));
  must("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease(device));
}
