# SPDX-License-Identifier: Apache-2.0
"""The device memory that one thing takes when it is first used, outside PyTorch's pool: prints the
bytes by difference of cudaMemGetInfo, less what PyTorch's pool grew by."""

import ctypes
import json
import sys

import torch
from torch.nn import functional


def used() -> int:
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free - torch.cuda.memory_reserved()


def context() -> int:
    """By NVML, since cudaMemGetInfo needs a context itself; else what is used right after."""

    class Memory(ctypes.Structure):
        _fields_ = [("total", ctypes.c_uint64), ("free", ctypes.c_uint64),
                    ("used", ctypes.c_uint64)]

    def by_nvml() -> int:
        memory = Memory()
        if nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) != 0:
            raise RuntimeError("NVML does not tell the device's memory")
        return memory.used

    nvml, device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
    if nvml.nvmlInit_v2() != 0 or nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) != 0:
        raise RuntimeError("there is no NVML here")
    before = by_nvml()
    torch.cuda.init()
    torch.cuda.synchronize()
    return by_nvml() - before


def after_first_kernel(use):
    torch.zeros(1, device="cuda").add_(1)
    held = [torch.randn(512, 512, device="cuda"),
            torch.randn(512, 512, device="cuda", dtype=torch.float16),
            torch.randn(4, 8, 64, 64, device="cuda", dtype=torch.float16)]
    before = used()
    held.append(use(*held))
    return used() - before


def first_kernel() -> int:
    torch.cuda.init()
    before = used()
    torch.zeros(1, device="cuda").add_(1)
    return used() - before


def nccl(groups: int = 1) -> int:
    """The bytes of the last of so many groups."""
    import torch.distributed as dist

    torch.cuda.set_device(0)
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    tensor = torch.ones(1024, device="cuda")
    found = 0
    for number in range(groups):
        group = dist.new_group([0]) if number else None
        before = used()
        dist.all_reduce(tensor, group=group)
        found = used() - before
    dist.destroy_process_group()
    return found


PROBES = {
    "context": context,
    "first_kernel": first_kernel,
    "cublas": lambda: after_first_kernel(lambda single, half, _: single @ single),
    "cublaslt": lambda: after_first_kernel(
        lambda single, half, _: functional.linear(half, half, half[0])),
    "cudnn": lambda: after_first_kernel(
        lambda single, half, _: functional.conv2d(single.view(1, 1, 512, 512),
                                                  single[:3, :3].reshape(1, 1, 3, 3))),
    "attention": lambda: after_first_kernel(
        lambda single, half, four: functional.scaled_dot_product_attention(four, four, four)),
    "cusolver": lambda: after_first_kernel(
        lambda single, half, _: torch.linalg.cholesky_ex(single)[0]),
    "cufft": lambda: after_first_kernel(lambda single, half, _: torch.fft.fft(single)),
    "nccl": nccl,
    "nccl_second_group": lambda: nccl(2),
}

print(json.dumps({"bytes": PROBES[sys.argv[1]]()}))
