/* SPDX-License-Identifier: Apache-2.0
 *
 * VERSION of a library that is called cuBLAS, and a framework that needs that version of it. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

int cublasSetWorkspace_v2(int* handle, void* workspace, unsigned long bytes);

#ifdef FRAMEWORK
int JOIN(use_version_, VERSION)(int* handle, void* workspace, unsigned long bytes);

int JOIN(use_version_, VERSION)(int* handle, void* workspace, unsigned long bytes) {
  return cublasSetWorkspace_v2(handle, workspace, bytes);
}
#else
int cublasSetWorkspace_v2(int* handle, void* workspace, unsigned long bytes) {
  (void)workspace;
  (void)bytes;
  *handle = VERSION;
  return 0;
}
#endif
