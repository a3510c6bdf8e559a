// SPDX-License-Identifier: Apache-2.0
//
// One kind of memory after the other, as the argument says; what the calls answer is printed.
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "by_name.h"

enum { kib = 1 << 10, mib = 1 << 20 };

static void say(const char* what, int error) {
  printf("%s %d\n", what, error);
}

static void library(const char* path) {
  use_device(0);
  int (*const asks)(device_pointer*, size_t) =
      (int (*)(device_pointer*, size_t))dlsym(dlopen(path, RTLD_NOW), "asks_for_memory");
  device_pointer p = 0, own = 0;
  say("library", asks(&p, 3 * mib));
  say("program", CALL(cuMemAlloc_v2, (device_pointer*, size_t), &own, mib));
  void* from_runtime = 0;
  say("runtime", CALL(cudaMalloc, (void**, size_t), &from_runtime, 2 * mib));
}

static void devices(void) {
  void* const first = use_device(0);
  void* const second = use_device(1);
  void *stream = 0, *pool = 0;
  CALL(cuStreamCreate, (void**, unsigned), &stream, 1);
  CALL(cuCtxSetCurrent, (void*), first);
  device_pointer ordered = 0, from_pool = 0, physical = 0, plain = 0;
  say("on a stream",
      CALL(cuMemAllocAsync, (device_pointer*, size_t, void*), &ordered, mib, stream));
  struct {
    struct allocation_properties head;
    char rest[64];
  } properties = {{.type = 1, .where = {1, 1}}, {0}};
  say("pool", CALL(cuMemPoolCreate, (void**, const void*), &pool, &properties));
  say("from it", CALL(cuMemAllocFromPoolAsync, (device_pointer*, size_t, void*, void*), &from_pool,
                      2 * mib, pool, stream));
  say("physical", CALL(cuMemCreate, (device_pointer*, size_t, const void*, unsigned long long),
                       &physical, 4 * mib, &properties, 0));
  CALL(cuCtxSetCurrent, (void*), second);
  say("plain", CALL(cuMemAlloc_v2, (device_pointer*, size_t), &plain, 8 * mib));
  CALL(cuCtxSetCurrent, (void*), first);
  say("freed", CALL(cuMemFreeAsync, (device_pointer, void*), ordered, 0));
  say("freed", CALL(cuMemFree_v2, (device_pointer), from_pool));
  say("destroyed", CALL(cuMemPoolDestroy, (void*), pool));
  say("released", CALL(cuMemRelease, (device_pointer), physical));
  say("freed", CALL(cuMemFree_v2, (device_pointer), plain));
}

static void failures(void) {
  use_device(0);
  device_pointer p = 0, physical = 0;
  struct allocation_properties properties = {.type = 1, .where = {1, 0}};
  say("allocated", CALL(cuMemAlloc_v2, (device_pointer*, size_t), &p, mib));
  say("too much", CALL(cuMemAlloc_v2, (device_pointer*, size_t), &p, (size_t)1 << 50));
  say("freed", CALL(cuMemFree_v2, (device_pointer), p));
  say("again", CALL(cuMemFree_v2, (device_pointer), p));
  say("nothing", CALL(cuMemFree_v2, (device_pointer), 0));
  say("created", CALL(cuMemCreate, (device_pointer*, size_t, const void*, unsigned long long),
                      &physical, 2 * mib, &properties, 0));
  say("released", CALL(cuMemRelease, (device_pointer), physical));
  say("again", CALL(cuMemRelease, (device_pointer), physical));
}

static void captured(void) {
  use_device(0);
  void *stream = 0, *graph = 0, *executable = 0;
  device_pointer p = 0, q = 0;
  CALL(cuStreamCreate, (void**, unsigned), &stream, 1);
  say("before", CALL(cuMemAllocAsync, (device_pointer*, size_t, void*), &q, mib, stream));
  say("freed", CALL(cuMemFreeAsync, (device_pointer, void*), q, stream));
  say("begin", CALL(cuStreamBeginCapture_v2, (void*, int), stream, 0));
  say("inside", CALL(cuMemAllocAsync, (device_pointer*, size_t, void*), &p, 6 * mib, stream));
  say("freed inside", CALL(cuMemFreeAsync, (device_pointer, void*), p, stream));
  say("end", CALL(cuStreamEndCapture, (void*, void**), stream, &graph));
  say("instantiated", CALL(cuGraphInstantiateWithFlags, (void**, void*, unsigned long long),
                           &executable, graph, 0));
  say("launched", CALL(cuGraphLaunch, (void*, void*), executable, stream));
}

static void nodes(void) {
  use_device(0);
  void *graph = 0, *allocates = 0, *frees = 0, *empty = 0;
  say("graph", CALL(cuGraphCreate, (void**, unsigned), &graph, 0));
  struct {
    int type, unused[3];
    struct allocation_properties pool;
    char rest[56];
    const void* access;
    size_t access_count, bytes;
    device_pointer address;
    char behind[160];
  } node = {.type = 10, .pool = {.type = 1, .where = {1, 0}}, .bytes = 5 * mib};
  say("allocates", CALL(cuGraphAddNode_v2, (void**, void*, const void*, const void*, size_t, void*),
                        &allocates, graph, 0, 0, 0, &node));
  struct {
    int type, unused[3];
    device_pointer address;
    char behind[240];
  } release = {.type = 11, .address = node.address};
  say("frees", CALL(cuGraphAddNode, (void**, void*, const void*, size_t, void*), &frees, graph,
                    &allocates, 1, &release));
  say("empty",
      CALL(cuGraphAddEmptyNode, (void**, void*, const void*, size_t), &empty, graph, 0, 0));
}

static void contexts(void) {
  void* const primary = use_device(0);
  void* made = 0;
  device_pointer inside = 0, outside = 0;
  say("made", CALL(cuCtxCreate_v2, (void**, unsigned, int), &made, 0, 0));
  say("inside", CALL(cuMemAlloc_v2, (device_pointer*, size_t), &inside, mib));
  CALL(cuCtxSetCurrent, (void*), primary);
  say("outside", CALL(cuMemAlloc_v2, (device_pointer*, size_t), &outside, 2 * mib));
  say("destroyed", CALL(cuCtxDestroy_v2, (void*), made));
  void* again = 0;
  CALL(cuDevicePrimaryCtxRetain, (void**, int), &again, 0);
  say("released", CALL(cuDevicePrimaryCtxRelease_v2, (int), 0));  // one user is left
  say("released", CALL(cuDevicePrimaryCtxRelease_v2, (int), 0));
}

static void arrays(void) {
  use_device(0);
  struct {
    size_t width, height;
    int format;
    unsigned channels;
  } flat = {300, 200, 0x20, 4};  // floats
  struct {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
  } deep = {64, 32, 16, 0x08, 1, 0};  // bytes
  void *one = 0, *two = 0;
  say("flat", CALL(cuArrayCreate_v2, (void**, const void*), &one, &flat));
  say("levels", CALL(cuMipmappedArrayCreate, (void**, const void*, unsigned), &two, &deep, 3));
  say("destroyed", CALL(cuArrayDestroy, (void*), one));
  say("destroyed", CALL(cuMipmappedArrayDestroy, (void*), two));
}

static device_pointer kept;
static void at_exit(void) {
  say("at exit", CALL(cuMemFree_v2, (device_pointer), kept));
  fflush(stdout);
}
static void leaving(void) {
  use_device(0);
  atexit(at_exit);
  say("allocated", CALL(cuMemAlloc_v2, (device_pointer*, size_t), &kept, 7 * mib));
}

static void checkpoints(void) {
  use_device(0);
  device_pointer p = 0;
  CALL(cuMemAlloc_v2, (device_pointer*, size_t), &p, mib);
  char arguments[64] = {0};
  CALL(cuCheckpointProcessLock, (int, void*), getppid(), arguments);
  CALL(cuCheckpointProcessLock, (int, void*), getpid(), arguments);
}

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (!strcmp(what, "library")) library(arguments[2]);
  if (!strcmp(what, "devices")) devices();
  if (!strcmp(what, "failures")) failures();
  if (!strcmp(what, "captured")) captured();
  if (!strcmp(what, "nodes")) nodes();
  if (!strcmp(what, "contexts")) contexts();
  if (!strcmp(what, "arrays")) arrays();
  if (!strcmp(what, "leaving")) leaving();
  if (!strcmp(what, "checkpoints")) checkpoints();
  return 0;
}
