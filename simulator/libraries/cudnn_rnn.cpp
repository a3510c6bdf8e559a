// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: recurrent networks. Nothing is computed; sizes and addresses are those of rnn_layout.h.
#include <algorithm>
#include <numeric>
#include <vector>

#include "simulator/libraries/cudnn_types.h"
#include "simulator/libraries/outputs.h"
#include "simulator/libraries/rnn_layout.h"

namespace memtrace::simulator::cudnn {
namespace {

struct rnn_descriptor {
  int algorithm;
  rnn_shape shape;
  int data_type;
  int math_precision;
  int math_type;
  const dropout_descriptor* dropout;
  std::uint32_t flags;
};

enum data_layout : int { time_major_padded = 0, time_major_packed = 1, batch_major_padded = 2 };

struct rnn_data_descriptor {
  int data_type;
  int layout;
  int longest;
  int batch;
  int vector;
  std::vector<int> lengths;
};

// Vectors in the data: padding counts unless it is packed.
std::size_t steps_of(const rnn_data_descriptor& data) {
  if (data.layout == time_major_packed) {
    return std::accumulate(data.lengths.begin(), data.lengths.end(), std::size_t{0});
  }
  return static_cast<std::size_t>(data.longest) * static_cast<std::size_t>(data.batch);
}

void note_data(const rnn_data_descriptor* data, const void* to) {
  if (data == nullptr) return;
  note_written(to, steps_of(*data) * static_cast<std::size_t>(data->vector) *
                       element_bytes(data->data_type));
}

void note_tensor(const tensor_descriptor* tensor, const void* to) {
  if (tensor != nullptr) note_written(to, extent(*tensor));
}

std::size_t weight_bytes(const rnn_descriptor& rnn) {
  return weight_elements(rnn.shape) * element_bytes(rnn.data_type);
}

unsigned kernels(const rnn_descriptor& rnn) {
  return static_cast<unsigned>(std::max(1, rnn.shape.layers * directions(rnn.shape)));
}

// Describes the parameter, or with sizes of 0 that there is none.
void describe(const rnn_descriptor& rnn, const std::optional<rnn_parameter>& parameter,
              const void* space, tensor_descriptor* tensor, void** address) {
  const int rows = parameter ? static_cast<int>(parameter->rows) : 0;
  const int columns = parameter ? static_cast<int>(parameter->columns) : 0;
  if (tensor != nullptr) {
    *tensor = {rnn.data_type, 3, {parameter ? 1 : 0, rows, columns}, {rows * columns, columns, 1}};
  }
  if (address == nullptr) return;
  const std::size_t offset = parameter ? parameter->offset * element_bytes(rnn.data_type) : 0;
  *address = parameter ? const_cast<char*>(static_cast<const char*>(space)) + offset : nullptr;
}

}  // namespace

MEMTRACE_API int cudnnCreateRNNDescriptor(rnn_descriptor** to) {
  return create(to);
}
MEMTRACE_API int cudnnDestroyRNNDescriptor(rnn_descriptor* rnn) {
  return destroy(rnn);
}
MEMTRACE_API int cudnnSetRNNDescriptor_v8(rnn_descriptor* rnn, int algorithm, int cell, int biases,
                                          int direction, int input_mode, int data_type,
                                          int math_precision, int math_type, int input_size,
                                          int hidden_size, int projection_size, int layers,
                                          const dropout_descriptor* dropout, std::uint32_t flags) {
  if (rnn == nullptr) return null_pointer;
  if (input_size < 1 || hidden_size < 1 || layers < 1) return bad_param;
  if (projection_size < 0 || projection_size > hidden_size) return bad_param;
  const rnn_shape shape{cell,       biases,      direction == 1,  input_mode == 1,
                        input_size, hidden_size, projection_size, layers};
  if (projected(shape) && cell != lstm_cell) return not_supported;
  *rnn = {algorithm, shape, data_type, math_precision, math_type, dropout, flags};
  return success;
}
MEMTRACE_API int cudnnRNNSetClip_v8(rnn_descriptor* rnn, int, int, double, double) {
  return rnn == nullptr ? null_pointer : success;
}
MEMTRACE_API int cudnnRNNSetClip_v9(rnn_descriptor* rnn, int, double, double) {
  return rnn == nullptr ? null_pointer : success;
}
MEMTRACE_API int cudnnBuildRNNDynamic(const handle*, const rnn_descriptor* rnn, int) {
  return rnn == nullptr ? null_pointer : success;
}

MEMTRACE_API int cudnnCreateRNNDataDescriptor(rnn_data_descriptor** to) {
  return create(to);
}
MEMTRACE_API int cudnnDestroyRNNDataDescriptor(rnn_data_descriptor* data) {
  return destroy(data);
}
MEMTRACE_API int cudnnSetRNNDataDescriptor(rnn_data_descriptor* data, int data_type, int layout,
                                           int longest, int batch, int vector, const int* lengths,
                                           void*) {
  if (data == nullptr || lengths == nullptr) return null_pointer;
  if (longest < 1 || batch < 1 || vector < 1) return bad_param;
  const std::vector<int> all(lengths, lengths + batch);
  const auto wrong = [longest](int length) { return length < 0 || length > longest; };
  if (std::any_of(all.begin(), all.end(), wrong)) return bad_param;
  *data = {data_type, layout, longest, batch, vector, all};
  return success;
}

MEMTRACE_API int cudnnGetRNNWeightSpaceSize(const handle*, const rnn_descriptor* rnn,
                                            std::size_t* to) {
  if (rnn == nullptr || to == nullptr) return null_pointer;
  *to = weight_bytes(*rnn);
  return success;
}

MEMTRACE_API int cudnnGetRNNWeightParams(const handle*, const rnn_descriptor* rnn, int pseudo_layer,
                                         std::size_t bytes, const void* space, int id,
                                         tensor_descriptor* matrix, void** matrix_at,
                                         tensor_descriptor* bias, void** bias_at) {
  if (rnn == nullptr) return null_pointer;
  if (bytes < weight_bytes(*rnn)) return bad_param;
  describe(*rnn, matrix_of(rnn->shape, pseudo_layer, id), space, matrix, matrix_at);
  describe(*rnn, bias_of(rnn->shape, pseudo_layer, id), space, bias, bias_at);
  return success;
}

MEMTRACE_API int cudnnGetRNNTempSpaceSizes(const handle*, const rnn_descriptor* rnn, int mode,
                                           const rnn_data_descriptor* input, std::size_t* work,
                                           std::size_t* reserve) {
  if (rnn == nullptr || input == nullptr) return null_pointer;
  constexpr int training = 1;
  const std::size_t element = element_bytes(rnn->data_type);
  const std::size_t steps = steps_of(*input);
  const bool masks = rnn->dropout != nullptr && rnn->dropout->probability > 0;
  if (work != nullptr) *work = work_elements(rnn->shape, steps) * element;
  if (reserve != nullptr) {
    *reserve = mode != training ? 0
                                : reserve_elements(rnn->shape, steps) * element +
                                      (masks ? mask_bytes(rnn->shape, steps) : 0);
  }
  return success;
}

MEMTRACE_API int cudnnRNNForward(const handle* handle, const rnn_descriptor* rnn, int, const int*,
                                 const rnn_data_descriptor*, const void*,
                                 const rnn_data_descriptor* output, void* y,
                                 const tensor_descriptor* hidden, const void*, void* hy,
                                 const tensor_descriptor* cell, const void*, void* cy, std::size_t,
                                 const void*, std::size_t work_bytes, void* work,
                                 std::size_t reserve_bytes, void* reserve) {
  if (rnn == nullptr) return null_pointer;
  note_data(output, y);
  note_tensor(hidden, hy);
  note_tensor(cell, cy);
  note_written(work, work_bytes);
  note_written(reserve, reserve_bytes);
  return compute(handle, kernels(*rnn));
}

MEMTRACE_API int cudnnRNNBackwardData_v8(const handle* handle, const rnn_descriptor* rnn,
                                         const int*, const rnn_data_descriptor*, const void*,
                                         const void*, const rnn_data_descriptor* input, void* dx,
                                         const tensor_descriptor* hidden, const void*, const void*,
                                         void* dhx, const tensor_descriptor* cell, const void*,
                                         const void*, void* dcx) {
  if (rnn == nullptr) return null_pointer;
  note_data(input, dx);
  note_tensor(hidden, dhx);
  note_tensor(cell, dcx);
  return compute(handle, kernels(*rnn));
}

MEMTRACE_API int cudnnRNNBackwardWeights_v8(const handle* handle, const rnn_descriptor* rnn, int,
                                            const int*, const rnn_data_descriptor*, const void*,
                                            const tensor_descriptor*, const void*,
                                            const rnn_data_descriptor*, const void*,
                                            std::size_t bytes, void* gradients) {
  if (rnn == nullptr) return null_pointer;
  note_written(gradients, bytes);
  return compute(handle, kernels(*rnn));
}

}  // namespace memtrace::simulator::cudnn
