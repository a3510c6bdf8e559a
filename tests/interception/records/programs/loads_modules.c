// SPDX-License-Identifier: Apache-2.0
//
// Loads a module while nothing else happens, and one while another thread allocates.
int cuMemAlloc_v2(unsigned long long* p, unsigned long bytes);
int cuModuleLoadData(void** module, const void* image);
int cuModuleUnload(void* module);

int main(void) {
  unsigned long long p;
  void* module;
  if (cuMemAlloc_v2(&p, 1 << 20)) return 1;
  if (cuModuleLoadData(&module, "quiet") || cuModuleUnload(module)) return 1;
  return cuModuleLoadData(&module, "busy");
}
