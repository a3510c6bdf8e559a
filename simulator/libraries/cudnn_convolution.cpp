// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: the older convolution API, which PyTorch falls back to for what the backend API does not
// take. One algorithm in each direction; its workspace is a constant (cudnn_workspace).
#include <algorithm>

#include "simulator/core/config.h"
#include "simulator/libraries/cudnn_types.h"

namespace memtrace::simulator::cudnn {
namespace {

struct convolution_descriptor {
  int dimensions;
  int padding[maximum_dimensions];
  int stride[maximum_dimensions];
  int dilation[maximum_dimensions];
  int mode;
  int compute_type;
  int math_type;
  int groups;
};

// The same for the forward, backward data and backward filter algorithms.
struct algorithm_performance {
  int algorithm;
  int status;
  float time_ms;
  std::size_t workspace_bytes;
  int determinism;
  int math_type;
  int reserved[3];
};

constexpr int chosen_algorithm = 1;  // precomputed implicit product, and both ALGO_1
constexpr int deterministic = 1;

int answer_algorithms(int requested, int* returned, algorithm_performance* results) {
  if (returned == nullptr || results == nullptr) return null_pointer;
  if (requested < 1) return bad_param;
  results[0] = {chosen_algorithm, success, 1.0F, constant(constant_id::cudnn_workspace),
                deterministic,    0,       {}};
  *returned = 1;
  return success;
}

int answer_workspace(std::size_t* to) {
  if (to == nullptr) return null_pointer;
  *to = constant(constant_id::cudnn_workspace);
  return success;
}

}  // namespace

MEMTRACE_API int cudnnCreateConvolutionDescriptor(convolution_descriptor** to) {
  const int created = create(to);
  if (created == success) (*to)->groups = 1;
  return created;
}
MEMTRACE_API int cudnnDestroyConvolutionDescriptor(convolution_descriptor* convolution) {
  return destroy(convolution);
}
MEMTRACE_API int cudnnSetConvolutionNdDescriptor(convolution_descriptor* to, int dimensions,
                                                 const int* padding, const int* stride,
                                                 const int* dilation, int mode, int compute_type) {
  if (to == nullptr) return null_pointer;
  if (dimensions < 1 || dimensions > maximum_dimensions - 2) return not_supported;
  to->dimensions = dimensions;
  std::copy_n(padding, dimensions, to->padding);
  std::copy_n(stride, dimensions, to->stride);
  std::copy_n(dilation, dimensions, to->dilation);
  to->mode = mode;
  to->compute_type = compute_type;
  return success;
}
MEMTRACE_API int cudnnSetConvolutionMathType(convolution_descriptor* to, int type) {
  if (to == nullptr) return null_pointer;
  to->math_type = type;
  return success;
}
MEMTRACE_API int cudnnGetConvolutionMathType(const convolution_descriptor* from, int* to) {
  if (from == nullptr || to == nullptr) return null_pointer;
  *to = from->math_type;
  return success;
}
MEMTRACE_API int cudnnSetConvolutionGroupCount(convolution_descriptor* to, int groups) {
  if (to == nullptr) return null_pointer;
  to->groups = groups;
  return success;
}
MEMTRACE_API int cudnnGetConvolutionGroupCount(const convolution_descriptor* from, int* to) {
  if (from == nullptr || to == nullptr) return null_pointer;
  *to = from->groups;
  return success;
}

#define MEMTRACE_CONVOLUTION(direction)                                                            \
  MEMTRACE_API int cudnnGetConvolution##direction##Algorithm_v7(                                   \
      const handle*, const void*, const void*, const void*, const void*, int requested,            \
      int* returned, algorithm_performance* results) {                                             \
    return answer_algorithms(requested, returned, results);                                        \
  }                                                                                                \
  MEMTRACE_API int cudnnFindConvolution##direction##Algorithm(                                     \
      const handle*, const void*, const void*, const void*, const void*, int requested,            \
      int* returned, algorithm_performance* results) {                                             \
    return answer_algorithms(requested, returned, results);                                        \
  }                                                                                                \
  MEMTRACE_API int cudnnFindConvolution##direction##AlgorithmEx(                                   \
      const handle*, const void*, const void*, const void*, const void*, const void*, const void*, \
      void*, int requested, int* returned, algorithm_performance* results, void*, std::size_t) {   \
    return answer_algorithms(requested, returned, results);                                        \
  }                                                                                                \
  MEMTRACE_API int cudnnGetConvolution##direction##WorkspaceSize(                                  \
      const handle*, const void*, const void*, const void*, const void*, int, std::size_t* to) {   \
    return answer_workspace(to);                                                                   \
  }                                                                                                \
  MEMTRACE_API int cudnnGetConvolution##direction##AlgorithmMaxCount(const handle*, int* to) {     \
    if (to == nullptr) return null_pointer;                                                        \
    *to = 1;                                                                                       \
    return success;                                                                                \
  }
MEMTRACE_CONVOLUTION(Forward)
MEMTRACE_CONVOLUTION(BackwardData)
MEMTRACE_CONVOLUTION(BackwardFilter)

}  // namespace memtrace::simulator::cudnn
