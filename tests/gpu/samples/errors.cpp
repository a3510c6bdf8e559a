// SPDX-License-Identifier: Apache-2.0
//
// What must fail, fails the same with the hook and without: before cuInit, without room, twice,
// after the context's end.
#include "say.h"

int main() {
  CUdeviceptr memory = 0;
  say("cuMemAlloc before cuInit", cuMemAlloc(&memory, 1));
  const CUdevice device = first_device_with_context();
  say("cuMemAlloc of nothing", cuMemAlloc(&memory, 0));
  say("cuMemAlloc into nothing", cuMemAlloc(nullptr, 1));
  size_t free = 0;
  size_t total = 0;
  must("cuMemGetInfo", cuMemGetInfo(&free, &total));
  say("cuMemAlloc of twice the device", cuMemAlloc(&memory, 2 * total));
  say("cuMemFree of nothing", cuMemFree(0));
  must("cuMemAlloc", cuMemAlloc(&memory, 1 << 20));
  must("cuMemFree", cuMemFree(memory));
  say("cuMemFree again", cuMemFree(memory));
  say("cuMemFreeHost of a stack", cuMemFreeHost(&free));
  must("cuMemAlloc", cuMemAlloc(&memory, 1 << 20));
  must("cuDevicePrimaryCtxReset", cuDevicePrimaryCtxReset(device));
  CUcontext context = nullptr;
  must("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
  must("cuCtxSetCurrent", cuCtxSetCurrent(context));
  say("cuMemFree of before the reset", cuMemFree(memory));
}
