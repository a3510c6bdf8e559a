// SPDX-License-Identifier: Apache-2.0
//
// What the samples share: one line for each call and what it returned.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>

inline void say(const char* what, CUresult result) {
  std::printf("%s %d\n", what, static_cast<int>(result));
}

// The rest makes no sense without it.
inline void must(const char* what, CUresult result) {
  say(what, result);
  if (result != CUDA_SUCCESS) std::exit(1);
}

inline CUdevice first_device_with_context() {
  must("cuInit", cuInit(0));
  CUdevice device = 0;
  must("cuDeviceGet", cuDeviceGet(&device, 0));
  CUcontext context = nullptr;
  must("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
  must("cuCtxSetCurrent", cuCtxSetCurrent(context));
  return device;
}
