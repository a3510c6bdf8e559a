# SPDX-License-Identifier: Apache-2.0
"""A server in Python without PyTorch: each of a hundred requests leaves a result behind."""
import ctypes
import json

MEBIBYTE = 1 << 20
cuda = ctypes.CDLL("libcudart.so.13")
results = []


def take(size: int) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(made), ctypes.c_size_t(size)) == 0
    return made


def answer() -> None:
    work = take(8 * MEBIBYTE)
    results.append(take(MEBIBYTE))  # kept
    cuda.cudaFree(work)


for _ in range(100):
    answer()
print(json.dumps({"kept": len(results) * MEBIBYTE}))
