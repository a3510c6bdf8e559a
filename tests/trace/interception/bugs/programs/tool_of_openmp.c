// SPDX-License-Identifier: Apache-2.0
//
// As a library, what LLVM's OpenMP does: a function that hands on to the next of its name, if there
// is one behind it. As a program, calls it, and looks a function of the C library up twice.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void* ompt_start_tool(unsigned version, const char* runtime);

#ifdef LIBRARY
__attribute__((weak)) void* ompt_start_tool(unsigned version, const char* runtime) {
  static int depth;
  if (++depth > 100) {
    printf("calls itself for ever\n");
    exit(3);
  }
  void* (*const next)(unsigned, const char*) =
      (void* (*)(unsigned, const char*))dlsym(RTLD_NEXT, "ompt_start_tool");
  return next ? next(version, runtime) : NULL;
}
#else
int main(void) {
  printf("tool %p\n", ompt_start_tool(1, "openmp"));
  void* const first = dlsym(RTLD_NEXT, "open");
  void* const second = dlsym(RTLD_NEXT, "open");
  printf("%s, %s\n", first ? "found" : "not found", first == second ? "again" : "then not");
  return 0;
}
#endif
