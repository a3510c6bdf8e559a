// SPDX-License-Identifier: Apache-2.0
//
// The exported names of a CPython, whose version is VERSION and of which nothing else is as
// memtrace knows it: whoever asks it for more than that ends the program.
#include <cstdint>
#include <cstdlib>

extern "C" {
const char* Py_GetVersion() {
  return VERSION;
}
int Py_IsInitialized() {
  return 1;
}
void* PyGILState_GetThisThreadState() {
  std::abort();
}
int Py_AddPendingCall(int (*)(void*), void*) {
  std::abort();
}
int PyGILState_Ensure() {
  std::abort();
}
void PyGILState_Release(int) {}
// Objects of another shape.
std::uint64_t PyType_Type[64] = {1, 1, 1, 1, 1, 1};
std::uint64_t PyCode_Type[64] = {1, 1, 1, 1, 1, 1};
std::uint64_t PyUnicode_Type[64] = {1, 1, 1, 1, 1, 1};
std::uint64_t PyBytes_Type[64] = {1, 1, 1, 1, 1, 1};
std::uint64_t _PyRuntime[64] = {1, 1, 1, 1, 1, 1};
}
