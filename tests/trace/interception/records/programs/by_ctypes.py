# SPDX-License-Identifier: Apache-2.0
"""Asks the driver for memory through ctypes; in a forked child, too, that has a context of its own."""
import ctypes
import os
import sys


def allocate(bytes_: int) -> int:
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    pointer = ctypes.c_uint64()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    return driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(bytes_))


if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        sys.exit(allocate(2 << 20))
    print(os.waitpid(child, 0)[1], flush=True)
print(allocate(3 << 20))
