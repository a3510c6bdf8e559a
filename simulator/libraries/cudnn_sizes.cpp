// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: sizes of workspaces and reserves that PyTorch allocates, and descriptors that carry them:
// batch normalisation, dropout, CTC loss.
#include <algorithm>

#include "simulator/core/config.h"
#include "simulator/libraries/cudnn_types.h"
#include "simulator/libraries/outputs.h"

namespace memtrace::simulator::cudnn {
namespace {

int put(std::size_t* to, std::size_t bytes) {
  if (to == nullptr) return null_pointer;
  *to = bytes;
  return success;
}

std::size_t elements(const tensor_descriptor& tensor) {
  std::size_t count = tensor.dimensions > 0 ? 1 : 0;
  for (int index = 0; index < tensor.dimensions; ++index) {
    count *= static_cast<std::size_t>(std::max(tensor.sizes[index], 0));
  }
  return count;
}

// Resident threads of one multiprocessor, by compute capability (CUDA C++ Programming Guide).
int resident_threads(const gpu_model& model) {
  const int capability = model.capability_major * 10 + model.capability_minor;
  if (capability == 75) return 1024;
  return capability == 86 || capability == 87 || capability == 89 || capability >= 120 ? 1536
                                                                                       : 2048;
}

// A generator state for every thread that the GPU can run at once. Unverified: 24 bytes each fit
// the 983,040 bytes that were reported for a GPU of 20 multiprocessors.
std::size_t dropout_state_bytes() {
  constexpr std::size_t generator_bytes = 24;
  const gpu_model& model = config().model;
  return static_cast<std::size_t>(model.multiprocessors) *
         static_cast<std::size_t>(resident_threads(model)) * generator_bytes;
}

struct loss_descriptor {
  int compute_type;
  int longest_label;
};

// Forward and backward variables of every time step for labels with blanks between. Unverified.
std::size_t loss_workspace(const tensor_descriptor& probabilities, int longest_label) {
  const auto steps = static_cast<std::size_t>(probabilities.sizes[0]);
  const auto batch = static_cast<std::size_t>(probabilities.sizes[1]);
  return 2 * steps * batch * static_cast<std::size_t>(2 * longest_label + 1) * sizeof(float);
}

int set_loss(loss_descriptor* to, int compute_type, int longest_label) {
  if (to == nullptr) return null_pointer;
  *to = {compute_type, longest_label};
  return success;
}

int compute_loss(const handle* handle, const tensor_descriptor* probabilities, void* costs,
                 const tensor_descriptor* gradients, void* gradients_at) {
  if (probabilities == nullptr || probabilities->dimensions < 2) return bad_param;
  note_written(costs, static_cast<std::size_t>(probabilities->sizes[1]) * sizeof(float));
  if (gradients != nullptr) note_written(gradients_at, extent(*gradients));
  return compute(handle);
}

}  // namespace

MEMTRACE_API int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(const handle*, int, int,
                                                                          const void*, const void*,
                                                                          const void*, const void*,
                                                                          const void*,
                                                                          std::size_t* to) {
  return put(to, constant(constant_id::cudnn_workspace));
}
MEMTRACE_API int cudnnGetBatchNormalizationBackwardExWorkspaceSize(const handle*, int, int,
                                                                   const void*, const void*,
                                                                   const void*, const void*,
                                                                   const void*, const void*,
                                                                   const void*, std::size_t* to) {
  return put(to, constant(constant_id::cudnn_workspace));
}
// A bit for each element where an activation follows, to know which were clipped; else nothing.
MEMTRACE_API int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    const handle*, int, int operations, const void*, const tensor_descriptor* input,
    std::size_t* to) {
  if (input == nullptr) return null_pointer;
  return put(to, operations == 0 ? 0 : (elements(*input) + 7) / 8);
}

MEMTRACE_API int cudnnCreateDropoutDescriptor(dropout_descriptor** to) {
  return create(to);
}
MEMTRACE_API int cudnnDestroyDropoutDescriptor(dropout_descriptor* dropout) {
  return destroy(dropout);
}
MEMTRACE_API int cudnnDropoutGetStatesSize(const handle*, std::size_t* to) {
  return put(to, dropout_state_bytes());
}
MEMTRACE_API int cudnnDropoutGetReserveSpaceSize(const tensor_descriptor* input, std::size_t* to) {
  return input == nullptr ? null_pointer : put(to, (elements(*input) + 7) / 8);
}
MEMTRACE_API int cudnnRestoreDropoutDescriptor(dropout_descriptor* to, const handle*,
                                               float probability, void* states, std::size_t bytes,
                                               unsigned long long seed) {
  if (to == nullptr) return null_pointer;
  if (states != nullptr && bytes < dropout_state_bytes()) return bad_param;
  *to = {probability, states, seed};
  return success;
}
MEMTRACE_API int cudnnSetDropoutDescriptor(dropout_descriptor* to, const handle* handle,
                                           float probability, void* states, std::size_t bytes,
                                           unsigned long long seed) {
  const int set = cudnnRestoreDropoutDescriptor(to, handle, probability, states, bytes, seed);
  if (set != success || states == nullptr) return set;
  note_written(states, bytes);
  return compute(handle);
}
MEMTRACE_API int cudnnGetDropoutDescriptor(const dropout_descriptor* from, const handle*,
                                           float* probability, void** states,
                                           unsigned long long* seed) {
  if (from == nullptr) return null_pointer;
  *probability = from->probability;
  *states = from->states;
  *seed = from->seed;
  return success;
}

MEMTRACE_API int cudnnCreateCTCLossDescriptor(loss_descriptor** to) {
  return create(to);
}
MEMTRACE_API int cudnnDestroyCTCLossDescriptor(loss_descriptor* loss) {
  return destroy(loss);
}
MEMTRACE_API int cudnnSetCTCLossDescriptor(loss_descriptor* to, int type) {
  return set_loss(to, type, 0);
}
MEMTRACE_API int cudnnSetCTCLossDescriptorEx(loss_descriptor* to, int type, int, int) {
  return set_loss(to, type, 0);
}
MEMTRACE_API int cudnnSetCTCLossDescriptor_v8(loss_descriptor* to, int type, int, int,
                                              int longest_label) {
  return set_loss(to, type, longest_label);
}
MEMTRACE_API int cudnnSetCTCLossDescriptor_v9(loss_descriptor* to, int type, int, int,
                                              int longest_label) {
  return set_loss(to, type, longest_label);
}
MEMTRACE_API int cudnnGetCTCLossWorkspaceSize(const handle*, const tensor_descriptor* probabilities,
                                              const tensor_descriptor*, const int*,
                                              const int* lengths, const int*, int,
                                              const loss_descriptor*, std::size_t* to) {
  if (probabilities == nullptr || lengths == nullptr) return null_pointer;
  if (probabilities->dimensions < 2 || probabilities->sizes[1] < 1) return bad_param;
  return put(to, loss_workspace(*probabilities,
                                *std::max_element(lengths, lengths + probabilities->sizes[1])));
}
MEMTRACE_API int cudnnGetCTCLossWorkspaceSize_v8(const handle*, int, const loss_descriptor* loss,
                                                 const tensor_descriptor* probabilities,
                                                 const tensor_descriptor*, std::size_t* to) {
  if (loss == nullptr || probabilities == nullptr) return null_pointer;
  if (probabilities->dimensions < 2) return bad_param;
  return put(to, loss_workspace(*probabilities, loss->longest_label));
}
MEMTRACE_API int cudnnCTCLoss(const handle* handle, const tensor_descriptor* probabilities,
                              const void*, const int*, const int*, const int*, void* costs,
                              const tensor_descriptor* gradients, void* gradients_at) {
  return compute_loss(handle, probabilities, costs, gradients, gradients_at);
}
MEMTRACE_API int cudnnCTCLoss_v8(const handle* handle, int, const loss_descriptor*,
                                 const tensor_descriptor* probabilities, const void*, const int*,
                                 const int*, const int*, void* costs,
                                 const tensor_descriptor* gradients, void* gradients_at) {
  return compute_loss(handle, probabilities, costs, gradients, gradients_at);
}

}  // namespace memtrace::simulator::cudnn
