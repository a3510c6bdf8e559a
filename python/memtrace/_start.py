# SPDX-License-Identifier: Apache-2.0
"""A recording that begins in a process that was started without libmemtrace.so."""

from __future__ import annotations

import ctypes
import os
import sys

from memtrace import _tool

_SEGMENT = {False: 1, True: 2}  # cudaMalloc's, or a range that is mapped (expandable segments)


class _Found(ctypes.Structure):
    """struct memtrace_found_memory of interpose/door/entry/late_start.cpp."""

    _fields_ = [("device", ctypes.c_uint32), ("kind", ctypes.c_uint32), ("address", ctypes.c_uint64),
                ("size", ctypes.c_uint64), ("requested", ctypes.c_uint64), ("stream", ctypes.c_uint64),
                ("pool", ctypes.c_uint64 * 2)]


def load(output):
    """The library, recording to this folder. Raises ToolMissing, and RuntimeError where it cannot be loaded."""
    library = _tool.find().parent / "libmemtrace.so"
    if output is not None:
        os.environ["MEMTRACE_OUTPUT"] = os.fspath(output)  # read while it is loaded
    try:
        loaded = ctypes.PyDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise RuntimeError(f"libmemtrace.so cannot be loaded into a process that runs already ({error}); start the "
                           "program with memtrace run -- python …") from None
    torch = sys.modules.get("torch")
    if torch is not None and not torch.cuda.is_initialized():
        torch = None
    taken = [] if torch is None else [torch.cuda.memory_reserved(device) for device in range(torch.cuda.device_count())]
    if not loaded.memtrace_start((ctypes.c_uint64 * len(taken))(*taken), len(taken)):
        raise RuntimeError("nothing is recorded: MEMTRACE_DISABLE or MEMTRACE_DEEP_BINDING=0 is set, or the folder of "
                           "MEMTRACE_OUTPUT cannot be written to")
    if torch is not None:
        _tell_what_is_there(loaded, torch)
    return loaded


def _tell_what_is_there(loaded, torch) -> None:
    """What PyTorch's allocator has by now, by its own snapshot; CUDA's pools have none."""
    is_native = torch.cuda.get_allocator_backend() == "native"
    for segment in torch.cuda.memory._snapshot()["segments"] if is_native else ():
        pool = tuple(segment.get("segment_pool_id", (0, 0)))
        one = _Found(segment["device"], _SEGMENT[segment.get("is_expandable", False)], segment["address"],
                     segment["total_size"], 0, segment["stream"], pool)
        loaded.memtrace_found(ctypes.byref(one))
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                one = _Found(segment["device"], 0, block.get("address", address), block["size"],
                             block.get("requested_size", block["size"]), segment["stream"], pool)
                loaded.memtrace_found(ctypes.byref(one))
            address += block["size"]
    devices = range(torch.cuda.device_count())
    loaded.memtrace_found_all(ctypes.c_uint64(sum(map(torch.cuda.memory_allocated, devices))))
