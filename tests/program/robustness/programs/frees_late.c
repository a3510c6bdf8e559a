// SPDX-License-Identifier: Apache-2.0
//
// A library as an extension module brings one, whose memory of the GPU outlives the interpreter: it
// calls CUDA from every kind of function that runs after Py_Finalize.
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// More than the events after which the agent asks again to be loaded, with all its pauses.
enum { blocks = 200, bytes = 1 << 20 };

static CUdeviceptr taken[blocks];
static CUdevice device;
static CUcontext context;

static void* in_driver(const char* name) {
  static void* driver;
  if (driver == NULL) driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = driver == NULL ? NULL : dlsym(driver, name);
  if (found == NULL) abort();
  return found;
}
#define CALL(name, ...)                                                                 \
  do {                                                                                  \
    if (((__typeof__(&name))in_driver(FULL_NAME(name)))(__VA_ARGS__) != CUDA_SUCCESS) { \
      abort();                                                                          \
    }                                                                                   \
  } while (0)
#define FULL_NAME(name) NAME_OF(name)  // cuMemFree_v2 where the header's cuMemFree stands for it
#define NAME_OF(name) #name

static void say(const char* text) {
  if (write(STDOUT_FILENO, text, strlen(text)) < 0) abort();
}

static void use_memory(void* say_when) {
  for (int i = 0; i < blocks; ++i) {
    if (taken[i] != 0) CALL(cuMemFree, taken[i]);
    CALL(cuMemAlloc, &taken[i], bytes);
    CALL(cuMemFree, taken[i]);
    taken[i] = 0;
  }
  say((const char*)say_when);
}

__attribute__((destructor)) static void at_unload(void) {
  if (context == NULL) return;
  use_memory("used by a destructor\n");
  CALL(cuDevicePrimaryCtxRelease, device);
}

static void at_exit(void) {
  use_memory("used at exit\n");
}

static pthread_t thread;
static atomic_int main_thread_waits;

static void* in_thread(void* unused) {
  CALL(cuCtxSetCurrent, context);
  while (!main_thread_waits) usleep(1000);
  use_memory("used by a thread\n");
  return unused;
}

static void await_thread(void) {
  main_thread_waits = 1;
  if (pthread_join(thread, NULL) != 0) abort();
}

// What __cxa_thread_atexit_impl of C++'s thread_local objects is given.
extern int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
extern void* __dso_handle;

void take_memory(void) {
  CALL(cuInit, 0);
  CALL(cuDeviceGet, &device, 0);
  CALL(cuDevicePrimaryCtxRetain, &context, device);
  CALL(cuCtxSetCurrent, context);
  for (int i = 0; i < blocks; ++i) CALL(cuMemAlloc, &taken[i], bytes);
}

void use_memory_late(void) {
  __cxa_thread_atexit_impl(use_memory, "used by a thread's object\n", &__dso_handle);
  if (atexit(at_exit) != 0 || atexit(await_thread) != 0) abort();
  if (pthread_create(&thread, NULL, in_thread, NULL) != 0) abort();
}

// Where this library is loaded before the interpreter begins.
__attribute__((constructor)) static void at_load(void) {
  if (getenv("MEMORY_BEFORE_PYTHON") == NULL) return;
  take_memory();
  use_memory("used before Python\n");
}
