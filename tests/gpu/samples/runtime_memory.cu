// SPDX-License-Identifier: Apache-2.0
//
// nvcc's static runtime, a kernel, managed memory, a graph with a memory node.
#include <cstdio>
#include <cstdlib>

namespace {

void must(const char* what, cudaError_t result) {
  std::printf("%s %d\n", what, static_cast<int>(result));
  if (result != cudaSuccess) std::exit(1);
}

__device__ int squares[1 << 20];

__global__ void fill(int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = squares[i] = i * i;
}

}  // namespace

int main() {
  constexpr int count = 1000;
  int* plain = nullptr;
  int* managed = nullptr;
  int* pooled = nullptr;
  must("cudaMalloc", cudaMalloc(&plain, count * sizeof(int)));
  must("cudaMallocManaged", cudaMallocManaged(&managed, count * sizeof(int)));
  fill<<<4, 256>>>(plain, count);
  fill<<<4, 256>>>(managed, count);
  must("cudaDeviceSynchronize", cudaDeviceSynchronize());
  std::printf("%d %d\n", managed[10], managed[999]);
  must("cudaMallocAsync", cudaMallocAsync(&pooled, 1 << 20, 0));
  must("cudaFreeAsync", cudaFreeAsync(pooled, 0));

  cudaGraph_t graph;
  must("cudaGraphCreate", cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams node{};
  node.poolProps.allocType = cudaMemAllocationTypePinned;
  node.poolProps.location.type = cudaMemLocationTypeDevice;
  node.bytesize = 4 << 20;
  cudaGraphNode_t taken;
  cudaGraphNode_t given;
  must("cudaGraphAddMemAllocNode", cudaGraphAddMemAllocNode(&taken, graph, nullptr, 0, &node));
  must("cudaGraphAddMemFreeNode", cudaGraphAddMemFreeNode(&given, graph, &taken, 1, node.dptr));
  cudaGraphExec_t runs;
  must("cudaGraphInstantiate", cudaGraphInstantiate(&runs, graph, 0));
  for (int i = 0; i < 3; ++i) must("cudaGraphLaunch", cudaGraphLaunch(runs, 0));
  must("cudaDeviceSynchronize", cudaDeviceSynchronize());
  must("cudaGraphExecDestroy", cudaGraphExecDestroy(runs));
  must("cudaGraphDestroy", cudaGraphDestroy(graph));
  must("cudaFree", cudaFree(managed));
  must("cudaFree", cudaFree(plain));
  must("cudaDeviceReset", cudaDeviceReset());
}
