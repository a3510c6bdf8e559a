// SPDX-License-Identifier: Apache-2.0
//
// Linked with the CUDA runtime: each process that it is preloaded into needs that, too.
int cudaGetDeviceCount(int* count);

int naive_devices(void) {
  int count = 0;
  cudaGetDeviceCount(&count);
  return count;
}
