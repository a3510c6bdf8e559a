# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own NVTX calls."""
import os

import torch
from torch.cuda import nvtx

print("tool", os.environ.get("NVTX_INJECTION64_PATH", ""))
print("returned", nvtx.range_push("before the GPU ü"))
torch.ones(1000, device="cuda")
nvtx.range_push("inner")
started = nvtx.range_start("started")
nvtx.mark("mark")
torch.sort(torch.rand(100000, device="cuda"))
nvtx.range_pop()
nvtx.range_end(started)
print("returned", nvtx.range_pop(), nvtx.range_pop())
with nvtx.range("context {}", 3):
    pass
