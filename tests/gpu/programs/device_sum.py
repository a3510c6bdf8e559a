# SPDX-License-Identifier: Apache-2.0
"""Takes memory in one way or all, then prints what the driver says is in use, everything held."""

import ctypes
import json
import os
import sys

import torch

MIB = 1 << 20


def from_pool():
    return [torch.ones(64 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)]


def pinned():
    return [torch.empty(32 * MIB, dtype=torch.uint8, pin_memory=True)]


def through_driver():
    """As a library does it that knows nothing of PyTorch."""
    driver = ctypes.CDLL("libcuda.so.1")
    found = []
    for size in (1, 3 * MIB, 70 * MIB + 5):
        address = ctypes.c_uint64()
        if driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) != 0:
            raise MemoryError(size)
        found.append(address)
    return found


def products():
    """cuBLAS, and a convolution: libraries with memory of their own."""
    left = torch.randn(256, 256, device="cuda", dtype=torch.float16)
    image = torch.randn(4, 3, 64, 64, device="cuda")
    weights = torch.randn(8, 3, 3, 3, device="cuda")
    return [left @ left, torch.nn.functional.conv2d(image, weights)]


WAYS = {
    "pool": [from_pool], "expandable": [from_pool], "async": [from_pool],
    "driver": [through_driver, from_pool], "pinned": [pinned, from_pool],
    "mixed": [products, through_driver, pinned, from_pool],
}


def by_nvml() -> dict:
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return {}

    class Memory(ctypes.Structure):
        _fields_ = [("total", ctypes.c_uint64), ("free", ctypes.c_uint64),
                    ("used", ctypes.c_uint64)]

    class Process(ctypes.Structure):
        _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_uint64),
                    ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]

    device, memory = ctypes.c_void_p(), Memory()
    uuid = ("GPU-" + str(torch.cuda.get_device_properties(0).uuid)).encode()
    if nvml.nvmlInit_v2() != 0:
        return {}
    if (nvml.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(device)) != 0
            and nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) != 0):
        return {}
    found = {}
    if nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0:
        found["nvml_used"] = memory.used
    processes, count = (Process * 64)(), ctypes.c_uint(64)
    ask = getattr(nvml, "nvmlDeviceGetComputeRunningProcesses_v3", None)
    if ask and ask(device, ctypes.byref(count), processes) == 0:
        own = [one.bytes for one in processes[:count.value] if one.pid == os.getpid()]
        found["nvml_own"] = own[0] if own else None
    return found


def main() -> None:
    torch.cuda.init()
    torch.cuda.synchronize()  # makes the context, which plain driver calls need
    held = [way() for way in WAYS[sys.argv[1]]]
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    print(json.dumps({"mem_get_info_used": total - free, **by_nvml(),
                      "torch_reserved": torch.cuda.memory_reserved(), "ways": len(held)}))


main()
