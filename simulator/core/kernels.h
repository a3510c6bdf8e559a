// SPDX-License-Identifier: Apache-2.0
//
// The kernels and device variables of the program, as compiled code registers them when it is
// loaded: some 100,000 in PyTorch, so that registering must cost next to nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace memtrace::simulator::kernels {

// `name` is the mangled name and must stay valid, as it does in a loaded library; so must the fat
// binary's wrapper.
void add(const void* host_function, const char* name, const void* fat_binary);

// The mangled name; null if the function is not registered.
[[nodiscard]] const char* name_of(const void* host_function);

// Its fat binary's wrapper; null if the function is not registered.
[[nodiscard]] const void* fat_binary_of(const void* host_function);

// A __device__ or __constant__ variable. Each device has its own copy, made when first asked for.
void add_variable(const void* host_variable, std::size_t bytes);

// Errors: 13 no such variable; 2 its memory does not fit.
[[nodiscard]] cudaError_t variable(const void* host_variable, int device, void*& address);
[[nodiscard]] cudaError_t variable_size(const void* host_variable, std::size_t& bytes);

}  // namespace memtrace::simulator::kernels
