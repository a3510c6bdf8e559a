/* SPDX-License-Identifier: Apache-2.0
 *
 * two_versions LIBRARY FUNCTION …: loads each library RTLD_LOCAL and says which version of cuBLAS
 * its function reached. Each call hands over a piece of its own. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "told.h"

int main(int count, char** arguments) {
  void* workspace = NULL;
  int calls = 0;
  if (cudaMalloc(&workspace, 4096) != 0) return 1;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int i = 1; i + 1 < count; i += 2) {
      int (*use)(int*, void*, unsigned long) = NULL;
      int reached = 0;
      void* const library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
      void* const symbol = library == NULL ? NULL : dlsym(library, arguments[i + 1]);
      if (symbol == NULL) {
        puts(dlerror());
        return 2;
      }
      memcpy(&use, &symbol, sizeof use);
      if (use(&reached, (char*)workspace + 512 * calls++, 512) != 0) return 3;
      printf("%s %d\n", arguments[i], reached);
    }
  }
  return cudaFree(workspace);
}
