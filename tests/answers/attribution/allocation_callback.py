# SPDX-License-Identifier: Apache-2.0
"""Calls a function right after each allocation of PyTorch: outside of the allocator's locks, on the
allocating thread, by torch.cuda._gpu_trace.

That machinery also imports a Python module at each free, which fails while an exception is being
raised, as checkpoint does to end a recomputation: there it is switched off for the frees.
"""

import ctypes
from pathlib import Path

import torch
import torch.cuda._gpu_trace as gpu_trace
from torch.utils import checkpoint

_c10 = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
_tracing = ctypes.c_bool.in_dll(_c10, "_ZN3c104impl8GPUTrace9haveStateE")


class _StopQuietly(checkpoint._StopRecomputationError):
    def __init__(self):
        super().__init__()
        _tracing.value = False


def follow_allocations(callback) -> None:
    """`callback` gets the address."""
    gpu_trace.register_callback_for_memory_allocation(callback)
    torch._C._activate_gpu_trace()
    match = checkpoint._CheckpointFrame.check_recomputed_tensors_match

    def match_and_go_on(frame, *arguments):
        _tracing.value = True
        return match(frame, *arguments)

    checkpoint._StopRecomputationError = _StopQuietly
    checkpoint._CheckpointFrame.check_recomputed_tensors_match = match_and_go_on
