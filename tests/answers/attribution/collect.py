# SPDX-License-Identifier: Apache-2.0
"""Runs a program and collects, from inside, what its GPU memory is: the truth for memtrace.

python collect.py find     OUT.json          PROGRAM [ARGUMENT...]   when its peaks are
python collect.py observe  OUT.json 123,456  PROGRAM [ARGUMENT...]   what is allocated then

Under several ranks OUT.json becomes OUT.RANK.json. The program's batches come from batches.py of
tests/programs or are told by told.py; both are no-ops when nobody collects.
"""

import json
import os
import runpy
import sys
from pathlib import Path

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(Path(next(word for word in sys.argv[3:] if word.endswith(".py"))).parent), str(HERE)]

import batches  # noqa: E402
import moments  # noqa: E402
import told  # noqa: E402
from allocation_callback import follow_allocations  # noqa: E402
from autocast_cache import watch_autocast_cache  # noqa: E402
from storages import storage_addresses  # noqa: E402


def tell_batches(observer) -> None:
    """Every batch that batches.on_device yields is inputs; of others the program itself tells."""
    yielded = batches.on_device

    def tell(tensor, role, name):
        for address in storage_addresses(tensor):
            observer.tell(address, role, name)

    def on_device(*arguments):
        for batch in yielded(*arguments):
            for tensor in batch:
                tell(tensor, "inputs", "batch")
            yield batch

    batches.on_device = on_device
    told.listener = tell


def write(path: Path, facts: dict) -> None:
    rank = os.environ.get("RANK")
    if rank is not None:
        path = path.with_suffix(f".{rank}{path.suffix}")
    path.write_text(json.dumps({
        "torch": str(torch.__version__), "process": os.getpid(),
        "peak_allocated_bytes": torch.cuda.max_memory_allocated(), **facts,
    }, indent=1))


def result_of(follower) -> dict:
    if isinstance(follower, moments.Finder):
        return {"peaks": {name: {"bytes": bytes_, "ordinal": ordinal}
                          for name, (bytes_, ordinal) in follower.peaks.items()}}
    for moment in follower.moments:
        for block in moment.blocks.values():
            block["role"] = {"cached": "kv_cache"}.get(block["role"], block["role"])
    return {"observations": follower.observations, "failures": follower.failures,
            "moments": [{"ordinal": moment.ordinal, "allocated_bytes": moment.allocated_bytes,
                         "blocks": list(moment.blocks.values())} for moment in follower.moments]}


def main() -> None:
    mode, out, *rest = sys.argv[1:]
    if mode == "find":
        follower = moments.Finder()
    else:
        follower = moments.Observer([int(ordinal) for ordinal in rest.pop(0).split(",")])
        tell_batches(follower)
        watch_autocast_cache(follower.tell)
        register_optimizer_step_post_hook(lambda *_: follower.after_step())
    program, *arguments = rest
    torch.cuda.init()
    follow_allocations(follower)
    sys.argv = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        write(Path(out), result_of(follower))


if __name__ == "__main__":
    main()
