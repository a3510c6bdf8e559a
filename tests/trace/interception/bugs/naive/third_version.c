// SPDX-License-Identifier: Apache-2.0
//
// Knows the suffixes up to _v3 and tries them in turn: a newer function is never found.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef int resolver(const char*, void**, int, unsigned long long, int*);

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags,
                        int* status) {
  static const char* const suffixes[] = {"_v3", "_v2", ""};
  for (int i = 0; i < 3; ++i) {
    char symbol[128];
    snprintf(symbol, sizeof symbol, "%s%s", name, suffixes[i]);
    *function = dlsym(RTLD_DEFAULT, symbol);
    if (*function) {
      if (status) *status = 0;
      return 0;
    }
  }
  return ((resolver*)dlsym(RTLD_NEXT, "cuGetProcAddress_v2"))(name, function, version, flags,
                                                              status);
}
