# SPDX-License-Identifier: Apache-2.0
"""CUDA calls made through ctypes, which shows what they leave in errno."""

import ctypes

import torch

from small_training import Training, counters

major = torch.version.cuda.split(".")[0]
ctypes.CDLL(f"libcudart.so.{major}", mode=ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None, use_errno=True)  # finds what is preloaded first, as a linked program does


def errno_after(function, *arguments) -> tuple[int, int]:
    """(the call's result, errno), which was 77 before it."""
    ctypes.set_errno(77)
    return function(*arguments), ctypes.get_errno()


pointer = ctypes.c_void_p()
for _ in range(2):  # the first one begins a recording: files are made
    print("cudaMalloc", errno_after(cuda.cudaMalloc, ctypes.byref(pointer), ctypes.c_size_t(4096)))
    print("cudaFree", errno_after(cuda.cudaFree, pointer))
training = Training()
training.steps(2)
print(counters())
