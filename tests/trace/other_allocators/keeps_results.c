// SPDX-License-Identifier: Apache-2.0
// A server without Python that answers a hundred requests: each takes memory to work in, which it gives
// back, and leaves a result behind, which it does not ("frees": it does).
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

enum { requests = 100, mebibyte = 1 << 20 };
static void* results[requests];

static void* keep(void) {
  void* made = 0;
  cudaMalloc(&made, mebibyte);  // kept
  return made;
}

static void* answer(void) {
  void* work = 0;
  cudaMalloc(&work, 8 * mebibyte);
  void* result = keep();
  cudaFree(work);
  return result;
}

int main(int count, char** words) {
  int frees = count > 1 && strcmp(words[1], "frees") == 0;
  for (int i = 0; i < requests; ++i) {
    results[i] = answer();
    if (frees) cudaFree(results[i]);
  }
  printf("{\"kept\": %d}\n", frees ? 0 : requests * mebibyte);
  return 0;
}
