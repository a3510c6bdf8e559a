# SPDX-License-Identifier: Apache-2.0
"""frees_late.py LIBRARY [torch]: the library's memory of the GPU outlives this interpreter."""

import ctypes
import sys
import time

library = ctypes.CDLL(sys.argv[1])
if "torch" in sys.argv:
    import torch

    model = torch.nn.Linear(8, 8).cuda()
    model(torch.ones(8, device="cuda")).sum().backward()
library.take_memory()
time.sleep(0.01)  # what waits for the interpreter's next instruction runs
library.use_memory_late()
print("leaving", flush=True)
