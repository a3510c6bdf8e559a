// SPDX-License-Identifier: Apache-2.0
//
// The functions behind our wrappers.
#pragma once

namespace memtrace {

enum class library_family {
  c_library,
  runtime,
  driver,
  cublas,
  cublasLt,
  cudnn,
  cufft,
  cupti,
  c10,
  c10_cuda,
  torch_cpu
};

// The next definition of the symbol in the global scope (a simulated CUDA, another interposer),
// else the family's loaded library's. Null if there is none. Not remembered: some microseconds.
[[nodiscard]] void* find_real_function(library_family family, const char* symbol) noexcept;

// Whether a library of the family itself defines it, not one that stands in front of it.
[[nodiscard]] bool is_from_family(library_family family, const void* function) noexcept;

}  // namespace memtrace
