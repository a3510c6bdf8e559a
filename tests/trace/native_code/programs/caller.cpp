// SPDX-License-Identifier: Apache-2.0
// Is linked with the library of library.cpp.
extern "C" void put(int frees);
extern "C" void say();

int main(int count, char**) {
  for (int i = 0; i < 40; ++i) {
    put(count > 1);  // 3: main
  }
  say();
}
