// SPDX-License-Identifier: Apache-2.0
#include "simulator/stubs/function_facts.h"

#include <algorithm>
#include <iterator>

namespace memtrace::simulator {
namespace {

constexpr function_facts facts[] = {
#define MEMTRACE_CALL(name, does, ...) {#name, answer::does, {{__VA_ARGS__}}},
#define MEMTRACE_OUT(slot, what) \
  out_parameter {                \
    slot, output::what           \
  }
#include "simulator/stubs/out_parameters.def"
#undef MEMTRACE_OUT
#undef MEMTRACE_CALL
};

constexpr bool sorted() {
  for (std::size_t i = 1; i < std::size(facts); ++i) {
    if (!(facts[i - 1].name < facts[i].name)) return false;
  }
  return true;
}
static_assert(sorted(), "generate_out_parameters.py writes the names sorted, each once");

struct prefix_of {
  std::string_view prefix;
  library of;
};

// The first that fits: longer beginnings stand before shorter ones.
constexpr prefix_of prefixes[] = {{"__cuda", library::cudart},
                                  {"cudaGL", library::cudart},
                                  {"cuda", library::cudart},
                                  {"cublas", library::cublas},
                                  {"cudnn", library::cudnn},
                                  {"cufft", library::cufft},
                                  {"curand", library::curand},
                                  {"cusolver", library::cusolver},
                                  {"cusparse", library::cusparse},
                                  {"nccl", library::nccl},
                                  {"pnccl", library::nccl},
                                  {"nvrtc", library::nvrtc},
                                  {"nvml", library::nvml},
                                  {"cupti", library::cupti},
                                  {"nvtx", library::nvtx},
                                  {"nvshmem", library::nvshmem},
                                  {"cuFile", library::cufile},
                                  {"nvJitLink", library::nvjitlink},
                                  {"__nvJitLink", library::nvjitlink},
                                  {"cu", library::cuda}};

}  // namespace

const function_facts* find_facts(std::string_view name) {
  const auto* const at = std::lower_bound(
      std::begin(facts), std::end(facts), name,
      [](const function_facts& each, std::string_view wanted) { return each.name < wanted; });
  return at != std::end(facts) && at->name == name ? at : nullptr;
}

library library_of(std::string_view name) {
  for (const prefix_of& each : prefixes) {
    if (name.substr(0, each.prefix.size()) == each.prefix) return each.of;
  }
  return library::other;
}

std::uint64_t not_supported(library of) {
  switch (of) {
    case library::cuda:
      return 801;  // CUDA_ERROR_NOT_SUPPORTED
    case library::cudart:
      return 801;  // cudaErrorNotSupported
    case library::cublas:
      return 15;  // CUBLAS_STATUS_NOT_SUPPORTED
    case library::cudnn:
      return 3000;  // CUDNN_STATUS_NOT_SUPPORTED since cuDNN 9
    case library::cufft:
      return 16;  // CUFFT_NOT_SUPPORTED
    case library::curand:
      return 204;  // CURAND_STATUS_ARCH_MISMATCH; it has no better one
    case library::cusolver:
      return 9;  // CUSOLVER_STATUS_NOT_SUPPORTED
    case library::cusparse:
      return 10;  // CUSPARSE_STATUS_NOT_SUPPORTED
    case library::nccl:
      return 5;  // ncclInvalidUsage
    case library::nvrtc:
      return 11;  // NVRTC_ERROR_INTERNAL_ERROR
    case library::nvml:
      return 3;  // NVML_ERROR_NOT_SUPPORTED
    case library::cupti:
      return 27;  // CUPTI_ERROR_NOT_SUPPORTED
    case library::cufile:
      return 5011;  // CU_FILE_IO_NOT_SUPPORTED, cu_err 0
    case library::nvjitlink:
      return 6;  // NVJITLINK_ERROR_INTERNAL
    case library::nvtx:
    case library::nvshmem:
    case library::other:
      return 1;
  }
  return 1;
}

}  // namespace memtrace::simulator
