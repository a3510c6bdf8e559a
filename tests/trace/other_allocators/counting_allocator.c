// SPDX-License-Identifier: Apache-2.0
// For torch.cuda.memory.CUDAPluggableAllocator: CUDA's own calls, and the bytes that are held.
#include <stddef.h>

extern int cudaMalloc(void** memory, size_t bytes);
extern int cudaFree(void* memory);

static size_t held;
static size_t most_held;

void* take(ptrdiff_t bytes, int device, void* stream) {
  (void)device, (void)stream;
  void* memory = 0;
  if (cudaMalloc(&memory, (size_t)bytes) != 0) return 0;
  held += (size_t)bytes;
  if (held > most_held) most_held = held;
  return memory;
}

void give_back(void* memory, ptrdiff_t bytes, int device, void* stream) {
  (void)device, (void)stream;
  held -= (size_t)bytes;
  cudaFree(memory);
}

size_t peak_bytes(void) {
  return most_held;
}
