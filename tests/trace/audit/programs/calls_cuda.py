# SPDX-License-Identifier: Apache-2.0
"""Allocates in every way that CUPTI has records of, from four threads, without PyTorch.

calls_cuda.py [unseen | killed | profiled_first]"""

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading

MODE = sys.argv[1] if len(sys.argv) > 1 else "plain"
cuda = ctypes.CDLL("libcudart.so.13")
SIZES = [512, 4096, 1 << 20, 3 << 20]


def check(error: int) -> None:
    assert error == 0, error


def allocate(function: str, size: int) -> ctypes.c_void_p:
    pointer = ctypes.c_void_p()
    more = {"cudaMallocManaged": [ctypes.c_uint(1)], "cudaHostAlloc": [ctypes.c_uint(0)],
            "cudaMallocAsync": [ctypes.c_void_p()]}.get(function, [])
    check(getattr(cuda, function)(ctypes.byref(pointer), ctypes.c_size_t(size), *more))
    return pointer


RELEASED_BY = {"cudaMalloc": "cudaFree", "cudaMallocManaged": "cudaFree",
               "cudaHostAlloc": "cudaFreeHost", "cudaMallocAsync": "cudaFreeAsync"}


def release(function: str, pointer: ctypes.c_void_p) -> None:
    more = [ctypes.c_void_p()] if function == "cudaMallocAsync" else []
    check(getattr(cuda, RELEASED_BY[function])(pointer, *more))


def work(seed: int) -> None:
    chosen = random.Random(seed)
    held = []
    for _ in range(200):
        function = chosen.choice(list(RELEASED_BY))
        held.append((function, allocate(function, chosen.choice(SIZES))))
        if len(held) > 8:
            release(*held.pop(chosen.randrange(len(held))))
    for one in held:
        release(*one)


def behind_the_hooks(name: str):
    """The function itself, by its place in the file: no hook can see that."""
    lines = [line.split() for line in open("/proc/self/maps")]
    first = next(line for line in lines if line[-1].endswith("/libmemtrace_cuda.so"))
    table = subprocess.run(["nm", "-D", "--defined-only", first[-1]], capture_output=True, text=True,
                           check=True, env={"PATH": os.environ["PATH"]}).stdout
    offset = next(int(line.split()[0], 16) for line in table.splitlines()
                  if line.split()[-1] == name)
    address = int(first[0].split("-")[0], 16) - int(first[2], 16) + offset
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)(address)


if MODE == "profiled_first":
    subscriber = ctypes.c_void_p()
    cupti = ctypes.CDLL("libcupti.so.13")
    check(cupti.cuptiSubscribe(ctypes.byref(subscriber), None, None))

threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

unified = allocate("cudaMallocManaged", 4 << 20)


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


check(cuda.cudaMemPrefetchAsync(unified, ctypes.c_size_t(4 << 20), Location(1, 0), 0, None))
if MODE == "unseen":
    hidden = ctypes.c_void_p()
    check(behind_the_hooks("cudaMalloc")(ctypes.addressof(hidden), 12345))
    print(hidden.value)
if MODE == "killed":
    import time

    time.sleep(0.4)  # longer than CUPTI's period: the next call delivers
    release("cudaMalloc", allocate("cudaMalloc", 512))
    os.kill(os.getpid(), signal.SIGKILL)
release("cudaMallocManaged", unified)
