// SPDX-License-Identifier: Apache-2.0
//
// A CUDA runtime of two functions, for programs that only have to make a trace.
#include <stdlib.h>

int cudaMalloc(void** address, size_t size) {
  *address = malloc(size);
  return *address == NULL ? 2 : 0;
}

int cudaFree(void* address) {
  free(address);
  return 0;
}
