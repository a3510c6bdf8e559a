/* SPDX-License-Identifier: Apache-2.0
 *
 * told idle:         calls everything, uses no GPU
 * told cuda PLUGIN:  with GPU memory; PLUGIN is a library that is loaded RTLD_LOCAL and tells too
 */
#include "told.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "memtrace/memtrace.h"

static int tell_from_plugin(const char* path) {
  void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void (*tell)(void) = NULL;
  void* symbol = plugin == NULL ? NULL : dlsym(plugin, "tell_from_plugin");
  if (symbol == NULL) return 1;
  memcpy(&tell, &symbol, sizeof tell);
  tell();
  return 0;
}

int main(int count, char** arguments) {
  void* address = NULL;
  char long_name[3000];
  memset(long_name, 'n', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';

  printf("active %d\n", memtrace_is_active());
  memtrace_phase_begin("ended before");
  memtrace_phase_end();
  memtrace_phase_begin("open before");
  memtrace_counter("too early", 1);
  memtrace_expect_growth("cache.keys", "as large as the data", __FILE__, 17);
  memtrace_expect_growth("cache.keys", "as large as the data", __FILE__, 17); /* the same */
  memtrace_expect_growth("told.c:*", NULL, NULL, 0);
  memtrace_expect_growth(NULL, "nothing", NULL, 0);
  if (count > 2) {
    if (cudaMalloc(&address, 1 << 20) != 0) return 1;
    printf("address %llu\n", (unsigned long long)(size_t)address);
  }
  memtrace_phase_begin("inner");
  memtrace_annotate(address, "a cache", "keys \"and\" values");
  memtrace_annotate(address, "weights", NULL);
  memtrace_counter("tokens", -12.5);
  memtrace_step("first");
  memtrace_step(NULL);
  memtrace_census(); /* of a program without Python: nothing */
  memtrace_phase_end();
  memtrace_phase_begin(long_name);
  memtrace_phase_end();
  if (count > 2 && tell_from_plugin(arguments[2]) != 0) return 2;
  memtrace_phase_end();
  memtrace_phase_end(); /* nothing is open any more */
  if (address != NULL && cudaFree(address) != 0) return 3;
  return 0;
}
