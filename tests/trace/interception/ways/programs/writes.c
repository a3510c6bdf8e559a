// SPDX-License-Identifier: Apache-2.0
//
// A library whose table of functions shares a page with what it writes.
#include <stddef.h>
#include <stdio.h>

int cudaMalloc(void** pointer, size_t size);

static volatile int written = 1;

void plugin_work(void) {
  void* memory = 0;
  written = cudaMalloc(&memory, 3 << 20) + 2;
  printf("written %d\n", written);
}
