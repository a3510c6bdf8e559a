# SPDX-License-Identifier: Apache-2.0
"""Python without PyTorch: device memory by CUDA's own function."""

import ctypes
import sys

cuda = ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
program = ctypes.CDLL(None)  # as a compiled extension calls it: what was loaded first is called
address = ctypes.c_void_p()
for mebibytes in (1, 2, 4):
    status = program.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(mebibytes << 20))
    print(mebibytes, status)
print(program.cudaFree(address), "torch" in sys.modules)
