// SPDX-License-Identifier: Apache-2.0
//
// Loads the generated calls as its argument says, or is linked with them (MEMTRACE_LINKED), and
// runs them.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#ifdef MEMTRACE_LINKED
extern "C" int run_calls(const char* what);
#endif

int main(int argc, char** argv) {
  if (argc != 4) return 2;
#ifdef MEMTRACE_LINKED
  return run_calls(argv[3]);
#else
  int mode = RTLD_NOW | RTLD_LOCAL;
  if (std::strcmp(argv[2], "deep") == 0) mode |= RTLD_DEEPBIND;
  void* const calls = dlopen(argv[1], mode);
  if (calls == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto* const run = reinterpret_cast<int (*)(const char*)>(dlsym(calls, "run_calls"));
  return run(argv[3]);
#endif
}
