// SPDX-License-Identifier: Apache-2.0
//
// Makes physical memory at a place that is no device: a NUMA node of the host.
#include "by_name.h"

int main(void) {
  use_device(0);
  struct allocation_properties on_host = {1, 0, {3, 0}, {0, 0}};
  unsigned long long handle = 0;
  const int error = CALL(cuMemCreate, (unsigned long long*, size_t, void*, unsigned long long),
                         &handle, 4 << 20, &on_host, 0);
  printf("created: error %d, %s\n", error, handle ? "a handle" : "none");
  return 0;
}
