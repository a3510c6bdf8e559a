// SPDX-License-Identifier: Apache-2.0
//
// A library of a framework that brings the CUDA runtime it is linked with.
#include <stddef.h>

int cudaMalloc(void** pointer, size_t size);

int plugin_allocate(void** pointer, size_t size) {
  const int error = cudaMalloc(pointer, size);
  return error == 0 ? 0 : error;
}
