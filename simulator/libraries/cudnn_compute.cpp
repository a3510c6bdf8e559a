// SPDX-License-Identifier: Apache-2.0
//
// cuDNN functions that run one kernel on the handle's stream and whose results are on the device;
// arguments after the handle are unread. And descriptors that only the real library looks into.
#include "simulator/libraries/cudnn_types.h"

namespace memtrace::simulator::cudnn {
namespace {

struct opaque_descriptor {
  int used;
};

}  // namespace

#define MEMTRACE_CUDNN(name)                    \
  MEMTRACE_API int name(const handle* handle) { \
    return compute(handle);                     \
  }
MEMTRACE_CUDNN(cudnnActivationBackward)
MEMTRACE_CUDNN(cudnnActivationForward)
MEMTRACE_CUDNN(cudnnAddTensor)
MEMTRACE_CUDNN(cudnnBatchNormalizationBackward)
MEMTRACE_CUDNN(cudnnBatchNormalizationBackwardEx)
MEMTRACE_CUDNN(cudnnBatchNormalizationForwardInference)
MEMTRACE_CUDNN(cudnnBatchNormalizationForwardTraining)
MEMTRACE_CUDNN(cudnnBatchNormalizationForwardTrainingEx)
MEMTRACE_CUDNN(cudnnConvolutionBackwardBias)
MEMTRACE_CUDNN(cudnnConvolutionBackwardData)
MEMTRACE_CUDNN(cudnnConvolutionBackwardFilter)
MEMTRACE_CUDNN(cudnnConvolutionBiasActivationForward)
MEMTRACE_CUDNN(cudnnConvolutionForward)
MEMTRACE_CUDNN(cudnnDropoutBackward)
MEMTRACE_CUDNN(cudnnDropoutForward)
MEMTRACE_CUDNN(cudnnOpTensor)
MEMTRACE_CUDNN(cudnnPoolingBackward)
MEMTRACE_CUDNN(cudnnPoolingForward)
MEMTRACE_CUDNN(cudnnReduceTensor)
MEMTRACE_CUDNN(cudnnScaleTensor)
MEMTRACE_CUDNN(cudnnSetTensor)
MEMTRACE_CUDNN(cudnnSoftmaxBackward)
MEMTRACE_CUDNN(cudnnSoftmaxForward)
MEMTRACE_CUDNN(cudnnSpatialTfGridGeneratorBackward)
MEMTRACE_CUDNN(cudnnSpatialTfGridGeneratorForward)
MEMTRACE_CUDNN(cudnnSpatialTfSamplerBackward)
MEMTRACE_CUDNN(cudnnSpatialTfSamplerForward)
MEMTRACE_CUDNN(cudnnTransformTensor)

#define MEMTRACE_OPAQUE(name)                                                  \
  MEMTRACE_API int cudnnCreate##name##Descriptor(opaque_descriptor** to) {     \
    return create(to);                                                         \
  }                                                                            \
  MEMTRACE_API int cudnnDestroy##name##Descriptor(opaque_descriptor* object) { \
    return destroy(object);                                                    \
  }
MEMTRACE_OPAQUE(Activation)
MEMTRACE_OPAQUE(Pooling)
MEMTRACE_OPAQUE(SpatialTransformer)
MEMTRACE_OPAQUE(OpTensor)
MEMTRACE_OPAQUE(ReduceTensor)

// The first argument is the descriptor.
#define MEMTRACE_SETTER(name)                              \
  MEMTRACE_API int name(const opaque_descriptor* object) { \
    return object == nullptr ? null_pointer : success;     \
  }
MEMTRACE_SETTER(cudnnSetActivationDescriptor)
MEMTRACE_SETTER(cudnnSetPooling2dDescriptor)
MEMTRACE_SETTER(cudnnSetPoolingNdDescriptor)
MEMTRACE_SETTER(cudnnSetSpatialTransformerNdDescriptor)
MEMTRACE_SETTER(cudnnSetOpTensorDescriptor)
MEMTRACE_SETTER(cudnnSetReduceTensorDescriptor)

}  // namespace memtrace::simulator::cudnn
