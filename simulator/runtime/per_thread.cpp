// SPDX-License-Identifier: Apache-2.0
//
// The names that code compiled for per-thread default streams calls: the same functions, with the
// null stream meaning the calling thread's.
#include <cuda_runtime_api.h>

#include <cstddef>

#include "simulator/core/export.h"

namespace {

template <typename Value>
Value own(Value value) {
  return value;
}
cudaStream_t own(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}

}  // namespace

// One line a function: its name, and the types of its arguments.
#define PER_THREAD_1(name, a)                  \
  MEMTRACE_API cudaError_t name##_ptsz(a x1) { \
    return name(own(x1));                      \
  }
#define PER_THREAD_2(name, a, b)                     \
  MEMTRACE_API cudaError_t name##_ptsz(a x1, b x2) { \
    return name(own(x1), own(x2));                   \
  }
#define PER_THREAD_3(name, a, b, c)                        \
  MEMTRACE_API cudaError_t name##_ptsz(a x1, b x2, c x3) { \
    return name(own(x1), own(x2), own(x3));                \
  }
#define PER_THREAD_4(name, a, b, c, d)                           \
  MEMTRACE_API cudaError_t name##_ptsz(a x1, b x2, c x3, d x4) { \
    return name(own(x1), own(x2), own(x3), own(x4));             \
  }
#define PER_THREAD_5(name, a, b, c, d, e)                              \
  MEMTRACE_API cudaError_t name##_ptsz(a x1, b x2, c x3, d x4, e x5) { \
    return name(own(x1), own(x2), own(x3), own(x4), own(x5));          \
  }
#define PER_THREAD_6(name, a, b, c, d, e, f)                                 \
  MEMTRACE_API cudaError_t name##_ptsz(a x1, b x2, c x3, d x4, e x5, f x6) { \
    return name(own(x1), own(x2), own(x3), own(x4), own(x5), own(x6));       \
  }
#define PER_THREAD_8(name, a, b, c, d, e, f, g, h)                                       \
  MEMTRACE_API cudaError_t name##_ptsz(a x1, b x2, c x3, d x4, e x5, f x6, g x7, h x8) { \
    return name(own(x1), own(x2), own(x3), own(x4), own(x5), own(x6), own(x7), own(x8)); \
  }

using args = void**;

PER_THREAD_1(cudaStreamSynchronize, cudaStream_t)
PER_THREAD_1(cudaStreamQuery, cudaStream_t)
PER_THREAD_2(cudaStreamGetFlags, cudaStream_t, unsigned*)
PER_THREAD_2(cudaStreamGetId, cudaStream_t, unsigned long long*)
PER_THREAD_2(cudaStreamGetPriority, cudaStream_t, int*)
PER_THREAD_2(cudaStreamBeginCapture, cudaStream_t, cudaStreamCaptureMode)
PER_THREAD_2(cudaStreamEndCapture, cudaStream_t, cudaGraph_t*)
PER_THREAD_2(cudaStreamIsCapturing, cudaStream_t, cudaStreamCaptureStatus*)
PER_THREAD_2(cudaStreamCopyAttributes, cudaStream_t, cudaStream_t)
PER_THREAD_2(cudaEventRecord, cudaEvent_t, cudaStream_t)
PER_THREAD_3(cudaEventRecordWithFlags, cudaEvent_t, cudaStream_t, unsigned)
PER_THREAD_3(cudaStreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned)
PER_THREAD_4(cudaStreamAddCallback, cudaStream_t, cudaStreamCallback_t, void*, unsigned)
PER_THREAD_3(cudaLaunchHostFunc, cudaStream_t, cudaHostFn_t, void*)
PER_THREAD_6(cudaLaunchKernel, const void*, dim3, dim3, args, std::size_t, cudaStream_t)
PER_THREAD_6(cudaLaunchCooperativeKernel, const void*, dim3, dim3, args, std::size_t, cudaStream_t)
PER_THREAD_2(cudaGraphLaunch, cudaGraphExec_t, cudaStream_t)
PER_THREAD_2(cudaGraphUpload, cudaGraphExec_t, cudaStream_t)
PER_THREAD_5(cudaMemcpyAsync, void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t)
PER_THREAD_8(cudaMemcpy2DAsync, void*, std::size_t, const void*, std::size_t, std::size_t,
             std::size_t, cudaMemcpyKind, cudaStream_t)
PER_THREAD_2(cudaMemcpy3DAsync, const cudaMemcpy3DParms*, cudaStream_t)
PER_THREAD_6(cudaMemcpyToSymbolAsync, const void*, const void*, std::size_t, std::size_t,
             cudaMemcpyKind, cudaStream_t)
PER_THREAD_6(cudaMemcpyFromSymbolAsync, void*, const void*, std::size_t, std::size_t,
             cudaMemcpyKind, cudaStream_t)
PER_THREAD_4(cudaMemsetAsync, void*, int, std::size_t, cudaStream_t)
PER_THREAD_6(cudaMemset2DAsync, void*, std::size_t, int, std::size_t, std::size_t, cudaStream_t)
PER_THREAD_4(cudaMemset3DAsync, cudaPitchedPtr, int, cudaExtent, cudaStream_t)

MEMTRACE_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* call,
                                                  const void* function, void** arguments) {
  if (!call) return cudaLaunchKernelExC(call, function, arguments);
  cudaLaunchConfig_t copy = *call;
  copy.stream = own(call->stream);
  return cudaLaunchKernelExC(&copy, function, arguments);
}

// The calls without a stream wait for what they do; which default stream they use shows in nothing.
MEMTRACE_API cudaError_t cudaMemcpy_ptds(void* to, const void* from, std::size_t bytes,
                                         cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

MEMTRACE_API cudaError_t cudaMemset_ptds(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, cudaStreamPerThread);
}
