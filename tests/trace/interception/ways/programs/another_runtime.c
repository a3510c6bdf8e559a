// SPDX-License-Identifier: Apache-2.0
//
// A second CUDA runtime of the process, with its own memory and a function that no release has yet.
#include <stddef.h>

int cudaMalloc(void** pointer, size_t size) {
  *pointer = (void*)0x1234000;
  return size == 77 ? 77 : 0;
}

int cudaMallocLater(void** pointer, size_t size) {
  *pointer = (void*)0x5678000;
  return size == 78 ? 78 : 0;
}
