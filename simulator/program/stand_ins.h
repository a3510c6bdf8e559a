// SPDX-License-Identifier: Apache-2.0
// The folder of libraries that stand in for NVIDIA's: one tiny file a soname, whose functions are
// in the simulated CUDA or, where that has none, in one generated library.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "result.h"

namespace memtrace::simulator {

struct stand_in_request {
  std::filesystem::path core;       // libmemtrace_cuda.so
  std::set<std::string> sonames;    // "libcudart.so.13", …
  std::set<std::string> functions;  // to exist, in the core or generated
};

inline constexpr const char* core_file = "libmemtrace_cuda.so";
inline constexpr const char* generated_file = "libmemtrace_cuda_generated.so";

// The file behind the soname's symbolic link: libcudart.so.13 → libcudart.simulated.so.13. PyTorch
// takes a mapped file called libcudart.so… for an installed one and loads its neighbours; vLLM takes
// one called libcudart.… for the runtime that is loaded.
[[nodiscard]] std::string file_behind(const std::string& soname);

// Returns the folder, <cache_dir>/<fingerprint of the request>; several processes may ask at once.
[[nodiscard]] result<std::filesystem::path> make_stand_ins(const stand_in_request& request,
                                                           const std::filesystem::path& cache_dir);

}  // namespace memtrace::simulator
