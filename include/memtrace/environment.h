// SPDX-License-Identifier: Apache-2.0
//
// The environment variables that a recording tells of, as info records `env.NAME`, where they are
// set. Only these: each changes how much memory a run takes, how long a step takes, or which GPU it
// is; the rest of an environment is nobody's business. Beside them only settings of PyTorch's
// allocator under another name that begins with PYTORCH_: a misspelt one.
#pragma once

#include "memtrace/capabilities.h"

namespace memtrace::format {

inline constexpr char environment_prefix[] = "env.";

// Of those that hold PyTorch's allocator settings, what the program itself has set since it began:
// info records `set_by_program.NAME`. PyTorch reads them once, so that it may be too late.
inline constexpr char program_prefix[] = "set_by_program.";
inline constexpr const char* settings_variables[] = {"PYTORCH_CUDA_ALLOC_CONF",
                                                     "PYTORCH_ALLOC_CONF"};

inline constexpr const char* environment_variables[] = {
    // PyTorch's allocators: block sizes, segments, pinned memory, none at all.
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
    // Which GPU, and how much of it.
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    // The context: kernels loaded when they are first used, or all at once; launches that wait.
    "CUDA_MODULE_LOADING", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
    // Workspaces of libraries, and which algorithms they may choose.
    "CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_WORKSPACE_SIZE", "TORCH_CUBLASLT_UNIFIED_WORKSPACE",
    "TORCH_BLAS_PREFER_CUBLASLT", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "NVIDIA_TF32_OVERRIDE",
    "TORCH_CUDNN_V8_API_DISABLED", "TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT",
    "CUDNN_FRONTEND_ATTN_DP_WORKSPACE_LIMIT",
    // Compiled or not, and what compiled code keeps.
    "TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE", "TORCHINDUCTOR_CUDAGRAPHS",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    // NCCL's channels and buffers are memory of the GPU; tensors in flight live longer or shorter.
    "NCCL_BUFFSIZE", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_ALGO", "NCCL_PROTO",
    "NCCL_P2P_DISABLE", "NCCL_NVLS_ENABLE", "NCCL_CUMEM_ENABLE", "TORCH_NCCL_AVOID_RECORD_STREAMS",
    "TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK",
    // Variables that accelerate's launcher passes on to the program.
    "ACCELERATE_MIXED_PRECISION", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS",
    "ACCELERATE_DYNAMO_BACKEND", "ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED",
    "ACCELERATE_DEEPSPEED_ZERO_STAGE",
    // Memory of the host, and threads that take time from each other.
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_",
    // The mode and the cost of the recording: the mode, and each row of capabilities.h.
    "MEMTRACE",
#define MEMTRACE_ROW(name, variable, from, lacks) variable,
    MEMTRACE_CAPABILITIES(MEMTRACE_ROW)
#undef MEMTRACE_ROW
};

}  // namespace memtrace::format
