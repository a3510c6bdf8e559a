// SPDX-License-Identifier: Apache-2.0
//
// A library that is linked with the CUDA runtime: calls it directly, and through a table.
#include <stddef.h>
#include <stdio.h>

int cudaMalloc(void** pointer, size_t size);
int cudaFree(void* pointer);

static int (*volatile const table[])(void**, size_t) = {&cudaMalloc};

void plugin_work(void) {
  void* direct = 0;
  void* by_table = 0;
  printf("allocated %d\n", cudaMalloc(&direct, 3 << 20));
  printf("allocated %d\n", table[0](&by_table, 5 << 20));
  printf("freed %d %d\n", cudaFree(direct), cudaFree(by_table));
}
