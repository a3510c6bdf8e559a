/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs are linked with in place of CUDA's runtime; they run with the simulated one. */
#include "told.h"

int cudaMalloc(void** address, size_t bytes) {
  (void)address;
  (void)bytes;
  return 1;
}

int cudaFree(void* address) {
  (void)address;
  return 1;
}
