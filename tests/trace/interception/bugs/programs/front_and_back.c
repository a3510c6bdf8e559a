// SPDX-License-Identifier: Apache-2.0
//
// With FRONT or BACK one of two libraries that export one name, as cuDNN 9 is made: the front looks
// the function up in the part behind it. Without, the program that calls it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int cudnnCreate(void** handle);

#ifdef FRONT
int cudnnCreate(void** handle) {
  static int depth;
  if (++depth > 100) {
    printf("calls itself for ever\n");
    exit(3);
  }
  void* back = dlopen("libback.so", RTLD_NOW | RTLD_LOCAL);
  return ((int (*)(void**))dlsym(back, "cudnnCreate"))(handle);
}
#elif defined BACK
int cudnnCreate(void** handle) {
  *handle = handle;
  return 0;
}
#else
int main(void) {
  void* handle = 0;
  const int error = cudnnCreate(&handle);
  printf("created: error %d\n", error);
  return 0;
}
#endif
