// SPDX-License-Identifier: Apache-2.0
//
// Opens the library that it is told, with the flags that it is told, and lets it work.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** arguments) {
  int flags = 0;
  for (int i = 2; i < count; ++i) {
    if (!strcmp(arguments[i], "now")) flags |= RTLD_NOW;
    if (!strcmp(arguments[i], "lazy")) flags |= RTLD_LAZY;
    if (!strcmp(arguments[i], "deep")) flags |= RTLD_DEEPBIND;
    if (!strcmp(arguments[i], "global")) flags |= RTLD_GLOBAL;
  }
  void* plugin = dlopen(arguments[1], flags);
  if (!plugin) {
    printf("%s\n", dlerror());
    return 2;
  }
  void (*work)(void) = (void (*)(void))dlsym(plugin, "plugin_work");
  const char* error = dlerror();
  printf("looked up: %s\n", error ? error : "no error");
  if (!work) return 2;
  work();
  work();
  return dlclose(plugin);
}
