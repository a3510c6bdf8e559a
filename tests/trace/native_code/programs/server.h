// SPDX-License-Identifier: Apache-2.0
// What all programs of this folder have: memory taken in one place, whoever asks, and what became of it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>

namespace server {

inline constexpr std::size_t kibibyte = 1024;
inline std::size_t held = 0, held_blocks = 0;

[[gnu::noinline]] inline void* take(std::size_t bytes) {
  void* made = nullptr;
  if (cudaMalloc(&made, bytes) != cudaSuccess) std::puts("no memory");
  held += bytes;
  ++held_blocks;
  return made;
}

[[gnu::noinline]] inline void give_back(void* memory, std::size_t bytes) {
  cudaFree(memory);
  held -= bytes;
  --held_blocks;
}

// Does what every request does: takes memory to work in, and gives it back.
[[gnu::noinline]] inline void work() {
  void* const room = take(512 * kibibyte);
  give_back(room, 512 * kibibyte);
}

inline void say() {
  std::printf("{\"held\": %zu, \"blocks\": %zu}\n", held, held_blocks);
}

}  // namespace server
