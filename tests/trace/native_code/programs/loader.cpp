// SPDX-License-Identifier: Apache-2.0
// Loads the library of library.cpp when it runs.
#include <dlfcn.h>

int main(int count, char**) {
  void* const library = dlopen("./liblibrary.so", RTLD_NOW);
  if (library == nullptr) return 1;
  const auto put = reinterpret_cast<void (*)(int)>(dlsym(library, "put"));
  for (int i = 0; i < 40; ++i) {
    put(count > 1);  // 3: main
  }
  reinterpret_cast<void (*)()>(dlsym(library, "say"))();
}
