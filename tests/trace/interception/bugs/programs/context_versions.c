// SPDX-License-Identifier: Apache-2.0
//
// Asks for cuCtxCreate as of a CUDA version, and calls it as it was then: context, flags, device,
// or from 12.5 on context, parameters, flags, device. What lies behind the arguments of such a call
// is left to chance: here it is 7, which is no device.
#include <string.h>

#include "by_name.h"

typedef int resolver(const char*, void**, int, unsigned long long, int*);

int main(int count, char** arguments) {
  const int version = count > 1 ? atoi(arguments[1]) : 0;
  CALL(cuInit, (unsigned), 0);
  void* function = 0;
  int status = -1;
  const int asked =
      ((resolver*)find("cuGetProcAddress_v2"))("cuCtxCreate", &function, version, 0, &status);
  printf("asked %d status %d\n", asked, status);
  if (!function) return 1;
  void* context = 0;
  int error = 0;
  if (version < 12050) {
    error = ((int (*)(void**, unsigned, int, int, int))function)(&context, 0, 1, 7, 7);
  } else {
    error = ((int (*)(void**, void*, unsigned, int, int))function)(&context, 0, 0, 1, 7);
  }
  int device = -1;
  if (!error) CALL(cuCtxGetDevice, (int*), &device);
  printf("created %d on device %d\n", error, device);
  return 0;
}
