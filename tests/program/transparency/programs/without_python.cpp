// SPDX-License-Identifier: Apache-2.0
//
// A program without Python: device memory by CUDA's own functions.
#include <cstddef>
#include <cstdio>

extern "C" int cudaMalloc(void** address, std::size_t bytes);
extern "C" int cudaFree(void* address);

int main() {
  void* address = nullptr;
  for (std::size_t mebibytes = 1; mebibytes <= 4; mebibytes *= 2)
    std::printf("%zu %d\n", mebibytes, cudaMalloc(&address, mebibytes << 20));
  std::printf("%d\n", cudaFree(address));
}
