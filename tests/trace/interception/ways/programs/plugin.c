// SPDX-License-Identifier: Apache-2.0
//
// A library that is linked with the CUDA runtime: calls it directly, through a table, and by a name
// that it looks up in its own scope.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int cudaMalloc(void** pointer, size_t size);
int cudaFree(void* pointer);

static int (*volatile const table[])(void**, size_t) = {&cudaMalloc};

void plugin_work(void) {
  void* direct = 0;
  void* by_table = 0;
  void* by_name = 0;
  int (*const found)(void**, size_t) = (int (*)(void**, size_t))dlsym(RTLD_DEFAULT, "cudaMalloc");
  printf("allocated %d\n", cudaMalloc(&direct, 3 << 20));
  printf("allocated %d\n", table[0](&by_table, 5 << 20));
  printf("allocated %d\n", found ? found(&by_name, 7 << 20) : -1);
  printf("freed %d %d %d\n", cudaFree(direct), cudaFree(by_table), cudaFree(by_name));
}
