// SPDX-License-Identifier: Apache-2.0
//
// Looks CUDA names up in a library of its own whose handle it does not have: in the global scope.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef void* look_up(void*, const char*);

void* dlsym(void* handle, const char* name) {
  static void* const own = NULL;
  look_up* const real = (look_up*)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  if (name[0] == 'c' && name[1] == 'u') {
    void* const found = real(own, name);
    if (found) return found;
  }
  return real(handle, name);
}
