// SPDX-License-Identifier: Apache-2.0
//
// Forwards dlsym by a call: the linker takes this library for the one that asks.
#define _GNU_SOURCE
#include <dlfcn.h>

typedef void* look_up(void*, const char*);

void* dlsym(void* handle, const char* name) {
  look_up* const real = (look_up*)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  void* volatile found = real(handle, name);
  return found;
}
