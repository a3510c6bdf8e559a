# SPDX-License-Identifier: Apache-2.0
"""A short training that gives each thing that memtrace may do in a process its occasion, and then what of
it is to be seen from inside, as JSON."""

import ctypes
import json
import os
import sys

import torch
from torch import nn
from torch.cuda import nvtx


class Allocator(ctypes.Structure):
    _fields_ = [("functions", ctypes.c_void_p)]


def library_at(address: int) -> str:
    with open("/proc/self/maps") as maps:
        for line in maps:
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            if begin <= address < end:
                return os.path.basename(line.split()[-1])
    return ""


def allocators_functions() -> str:
    """The library that its table of functions lies in."""
    library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10_cuda.so"))
    pointer = ctypes.POINTER(Allocator).in_dll(library, "_ZN3c104cuda20CUDACachingAllocator9allocatorE")
    return library_at(pointer.contents.functions)


def threads() -> list[str]:
    names = [open(f"/proc/self/task/{number}/comm").read().strip() for number in os.listdir("/proc/self/task")]
    return sorted(name for name in names if name.startswith("memtrace"))


def train() -> None:
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        nvtx.range_push("a step of ours")
        model(torch.randn(64, 256, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        nvtx.range_pop()
    torch.cuda.empty_cache()


train()
awaited = set(filter(None, sys.argv[1].split(",")))
for _ in range(3000):  # until each thread has looked once, half a minute at most
    if awaited <= set(threads()):
        break
    ctypes.CDLL(None).usleep(10000)
ask = ctypes.CDLL(None).getenv
ask.restype = ctypes.c_char_p
print(json.dumps({"threads": threads(), "functions": allocators_functions(),
                  "tool": bool(ask(b"NVTX_INJECTION64_PATH"))}))
