/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs are linked with in place of CUDA's runtime. Most run with the simulated one. */
#include <stdlib.h>

#include "told.h"

int cudaMalloc(void** address, size_t bytes) {
  *address = malloc(bytes);
  return *address == NULL ? 2 : 0;
}

int cudaFree(void* address) {
  free(address);
  return 0;
}
