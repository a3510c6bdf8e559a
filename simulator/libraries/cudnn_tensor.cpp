// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: tensor and filter descriptors. A filter is a tensor whose strides follow from its format.
#include <algorithm>

#include "simulator/libraries/cudnn_types.h"

namespace memtrace::simulator::cudnn {
namespace {

enum format : int { channels_first = 0, channels_last = 1, vectorised = 2 };

struct filter_descriptor {
  tensor_descriptor tensor;
  int format;
};

int set_sizes(tensor_descriptor* to, int data_type, int dimensions, const int* sizes) {
  if (to == nullptr || sizes == nullptr) return null_pointer;
  if (dimensions < 1 || dimensions > maximum_dimensions) return not_supported;
  to->data_type = data_type;
  to->dimensions = dimensions;
  std::copy_n(sizes, dimensions, to->sizes);
  return success;
}

// Packed strides: the last dimension fastest, or in channels_last the second.
void set_strides(tensor_descriptor& to, int format) {
  int stride = 1;
  const bool last = format == channels_last && to.dimensions > 2;
  if (last) {
    to.strides[1] = 1;
    stride = to.sizes[1];
  }
  for (int index = to.dimensions - 1; index >= 0; --index) {
    if (last && index == 1) continue;
    to.strides[index] = stride;
    stride *= to.sizes[index];
  }
}

// Null pointers are left out, as the older API allows.
template <typename Value>
void put(Value* to, Value value) {
  if (to != nullptr) *to = value;
}

}  // namespace

std::size_t extent(const tensor_descriptor& tensor) {
  std::size_t elements = tensor.dimensions > 0 ? 1 : 0;
  for (int index = 0; index < tensor.dimensions; ++index) {
    if (tensor.sizes[index] <= 0) return 0;
    elements += static_cast<std::size_t>(tensor.sizes[index] - 1) *
                static_cast<std::size_t>(std::max(tensor.strides[index], 0));
  }
  return elements * element_bytes(tensor.data_type);
}

MEMTRACE_API int cudnnCreateTensorDescriptor(tensor_descriptor** to) {
  return create(to);
}
MEMTRACE_API int cudnnDestroyTensorDescriptor(tensor_descriptor* tensor) {
  return destroy(tensor);
}
MEMTRACE_API int cudnnSetTensorNdDescriptor(tensor_descriptor* to, int data_type, int dimensions,
                                            const int* sizes, const int* strides) {
  const int checked = set_sizes(to, data_type, dimensions, sizes);
  if (checked != success) return checked;
  if (strides == nullptr) return null_pointer;
  std::copy_n(strides, dimensions, to->strides);
  return success;
}
MEMTRACE_API int cudnnSetTensorNdDescriptorEx(tensor_descriptor* to, int format, int data_type,
                                              int dimensions, const int* sizes) {
  const int checked = set_sizes(to, data_type, dimensions, sizes);
  if (checked == success) set_strides(*to, format);
  return checked;
}
MEMTRACE_API int cudnnSetTensor4dDescriptor(tensor_descriptor* to, int format, int data_type, int n,
                                            int c, int h, int w) {
  const int sizes[] = {n, c, h, w};
  return cudnnSetTensorNdDescriptorEx(to, format, data_type, 4, sizes);
}
MEMTRACE_API int cudnnSetTensor4dDescriptorEx(tensor_descriptor* to, int data_type, int n, int c,
                                              int h, int w, int n_stride, int c_stride,
                                              int h_stride, int w_stride) {
  const int sizes[] = {n, c, h, w};
  const int strides[] = {n_stride, c_stride, h_stride, w_stride};
  return cudnnSetTensorNdDescriptor(to, data_type, 4, sizes, strides);
}
MEMTRACE_API int cudnnGetTensorNdDescriptor(const tensor_descriptor* from, int requested,
                                            int* data_type, int* dimensions, int* sizes,
                                            int* strides) {
  if (from == nullptr || data_type == nullptr || dimensions == nullptr) return null_pointer;
  *data_type = from->data_type;
  *dimensions = from->dimensions;
  const int count = std::clamp(requested, 0, from->dimensions);
  if (sizes != nullptr) std::copy_n(from->sizes, count, sizes);
  if (strides != nullptr) std::copy_n(from->strides, count, strides);
  return success;
}
MEMTRACE_API int cudnnGetTensor4dDescriptor(const tensor_descriptor* from, int* data_type, int* n,
                                            int* c, int* h, int* w, int* n_stride, int* c_stride,
                                            int* h_stride, int* w_stride) {
  if (from == nullptr) return null_pointer;
  if (from->dimensions != 4) return bad_param;
  put(data_type, from->data_type);
  int* const sizes[] = {n, c, h, w};
  int* const strides[] = {n_stride, c_stride, h_stride, w_stride};
  for (int index = 0; index < 4; ++index) {
    put(sizes[index], from->sizes[index]);
    put(strides[index], from->strides[index]);
  }
  return success;
}
MEMTRACE_API int cudnnGetTensorSizeInBytes(const tensor_descriptor* from, std::size_t* to) {
  if (from == nullptr || to == nullptr) return null_pointer;
  *to = extent(*from);
  return success;
}

MEMTRACE_API int cudnnCreateFilterDescriptor(filter_descriptor** to) {
  return create(to);
}
MEMTRACE_API int cudnnDestroyFilterDescriptor(filter_descriptor* filter) {
  return destroy(filter);
}
MEMTRACE_API int cudnnSetFilterNdDescriptor(filter_descriptor* to, int data_type, int format,
                                            int dimensions, const int* sizes) {
  if (to == nullptr) return null_pointer;
  const int checked = set_sizes(&to->tensor, data_type, dimensions, sizes);
  if (checked != success) return checked;
  set_strides(to->tensor, format);
  to->format = format;
  return success;
}
MEMTRACE_API int cudnnGetFilterNdDescriptor(const filter_descriptor* from, int requested,
                                            int* data_type, int* format, int* dimensions,
                                            int* sizes) {
  if (from == nullptr || format == nullptr) return null_pointer;
  *format = from->format;
  return cudnnGetTensorNdDescriptor(&from->tensor, requested, data_type, dimensions, sizes,
                                    nullptr);
}
MEMTRACE_API int cudnnGetFilterSizeInBytes(const filter_descriptor* from, std::size_t* to) {
  if (from == nullptr) return null_pointer;
  return cudnnGetTensorSizeInBytes(&from->tensor, to);
}

}  // namespace memtrace::simulator::cudnn
