// SPDX-License-Identifier: Apache-2.0
//
// Makes physical memory in a thread that has no context, as worker threads that load weights do
// under expandable segments.
#include <pthread.h>

#include "by_name.h"

static void* work(void* unused) {
  struct allocation_properties on_device = {1, 0, {1, 1}, {0, 0}};
  unsigned long long handle = 0;
  int device = -999;
  printf("device of the context: error %d\n", CALL(cuCtxGetDevice, (int*), &device));
  const int error = CALL(cuMemCreate, (unsigned long long*, size_t, void*, unsigned long long),
                         &handle, 4 << 20, &on_device, 0);
  printf("created: error %d, %s\n", error, handle ? "a handle" : "none");
  return unused;
}

int main(void) {
  use_device(0);
  pthread_t thread;
  pthread_create(&thread, 0, &work, 0);
  pthread_join(thread, 0);
  return 0;
}
