// SPDX-License-Identifier: Apache-2.0
//
// Takes memory once and gives it back; prints its effective user.
#include <stdio.h>
#include <unistd.h>

int cudaMalloc(void** address, size_t size);
int cudaFree(void* address);

int main(void) {
  void* memory = NULL;
  if (cudaMalloc(&memory, 4096) != 0 || cudaFree(memory) != 0) return 1;
  printf("%d\n", (int)geteuid());
  return 0;
}
