# SPDX-License-Identifier: Apache-2.0
"""PyTorch's reading of allocator configurations: CASES.json ANSWERS.json.

Cases are ["start", TEXT, VARIABLES] (the environment of a program that starts) or ["change", TEXT]
(of a running one, each after the other). Every start is a process of its own, forked from one that
has imported torch and not touched CUDA.
"""

import ctypes
import json
import os
import struct
import sys
from pathlib import Path

import torch

LIBRARIES = Path(torch.__file__).parent / "lib"
SHARED = ctypes.CDLL(str(LIBRARIES / "libc10.so"))
CUDA = ctypes.CDLL(str(LIBRARIES / "libc10_cuda.so"))
shared_instance = SHARED._ZN3c1016CachingAllocator26AcceleratorAllocatorConfig8instanceEv
shared_instance.restype = ctypes.c_void_p
cuda_instance = ctypes.c_void_p.in_dll(
    CUDA, "_ZZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig8instanceEvE10s_instance"
)


def values() -> dict:
    """The members of the two objects, as c10/core/AllocatorConfig.h and CUDAAllocatorConfig.h of
    2.11 declare them; test_settings.py holds them against a snapshot's allocator_settings."""
    at = shared_instance()
    large, split, rounding, divisions, _, _, threshold, expandable, background = struct.unpack(
        "<QQQQQQd??", ctypes.string_at(at, 58)
    )
    threads, reserve, _, unlocked, registered, reuse, fraction = struct.unpack(
        "<QQi???xd", ctypes.string_at(cuda_instance.value, 32)
    )
    return {
        "max_split_size": split,
        "large_segment_size": large,
        "max_non_split_rounding": rounding,
        "garbage_collection_threshold": threshold,
        "roundup_power2_divisions": list(struct.unpack("<16Q", ctypes.string_at(divisions, 128))),
        "expandable_segments": expandable,
        "memory_fraction": fraction,
        "pinned_use_cuda_host_register": registered,
        "pinned_num_register_threads": threads,
        "pinned_use_background_threads": background,
        # In bytes, as we keep it: what 64 bits cannot hold is cut off.
        "pinned_reserve_segment_size": min(reserve, (2**64 - 1) >> 20) << 20,
        "release_lock_on_cudamalloc": unlocked,
        "graph_capture_record_stream_reuse": reuse,
    }


def refusal(action) -> str | None:
    try:
        action()
    except torch.OutOfMemoryError:
        return None  # a memory fraction of 0, which is allowed
    except (RuntimeError, ValueError, IndexError) as why:
        return str(why).split("\n")[0]
    return None


def use_cuda() -> None:
    torch.empty(1, device="cuda")


def start(variables: dict) -> dict:
    os.environ.update(variables)
    why = refusal(use_cuda)
    # After a refused start the objects may not be there.
    answer = {"refused": why, "values": None if why else values()}
    if not why:
        answer["snapshot"] = torch.cuda.memory._snapshot()["allocator_settings"]
    return answer


def change(texts: list[str]) -> list[dict]:
    use_cuda()
    answers = []
    for text in texts:
        why = refusal(lambda text=text: torch._C._accelerator_setAllocatorSettings(text))
        answers.append({"refused": why, "values": values()})
    return answers


def in_child(work) -> object:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as out:
            json.dump(work(), out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def main() -> None:
    cases = json.loads(Path(sys.argv[1]).read_text())
    answers = {
        "starts": [in_child(lambda v=v: start(v)) for v in cases["starts"]],
        "changes": in_child(lambda: change(cases["changes"])),
    }
    Path(sys.argv[2]).write_text(json.dumps(answers))


main()
