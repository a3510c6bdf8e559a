// SPDX-License-Identifier: Apache-2.0
//
// As much of a driver as a module can be loaded with. Pages have 2 MiB, as on a GPU; the context
// has 10 MiB, a module 4. With the image "busy" another thread allocates 5 meanwhile.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { mib = 1 << 20, page = 2 * mib, total = 64 * mib };
static size_t used = 10 * mib;
static char context, module;

int cuInit(unsigned flags) {
  return (int)flags;
}
int cuDriverGetVersion(int* version) {
  return *version = 13000, 0;
}
int cuDeviceGetCount(int* count) {
  return *count = 1, 0;
}
int cuDeviceGet(int* device, int ordinal) {
  return *device = ordinal, 0;
}
int cuDeviceGetName(char* name, int size, int device) {
  return strncpy(name, "small", size), device;
}
int cuDeviceGetAttribute(int* value, int which, int device) {
  return *value = which, device;
}
int cuDeviceGetPCIBusId(char* id, int size, int device) {
  return strncpy(id, "", size), device;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return *bytes = total, device;
}
int cuCtxGetCurrent(void** current) {
  return *current = &context, 0;
}
int cuCtxGetDevice(int* device) {
  return *device = 0, 0;
}
int cuMemGetInfo_v2(size_t* available, size_t* bytes) {
  *available = total - used;
  *bytes = total;
  return 0;
}

int cuMemAlloc_v2(unsigned long long* p, size_t bytes) {
  *p = 0x10000000 + used;
  used += (bytes + page - 1) / page * page;
  return 0;
}

static void* allocate(void* unused) {
  int (*const hooked)(unsigned long long*, size_t) =
      (int (*)(unsigned long long*, size_t))dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
  unsigned long long p;
  hooked(&p, 5 * mib);
  return unused;
}

int cuModuleLoadData(void** made, const void* image) {
  used += 4 * mib;
  *made = &module;
  if (!strcmp(image, "busy")) {
    pthread_t other;
    pthread_create(&other, 0, allocate, 0);
    pthread_join(other, 0);
  }
  return 0;
}
int cuModuleUnload(void* which) {
  used -= 4 * mib;
  return which == &module ? 0 : 1;
}
