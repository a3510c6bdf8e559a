# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario with so many ranks, and prints what each rank says.

The ranks are forked from one process that has imported PyTorch: what torchrun does takes five seconds
of processor time more for each of them.

    forked_ranks.py SCENARIO.py RANKS [THE ONE THAT DIFFERS]

Where a launcher started it as one rank, it is that one.
"""

import faulthandler
import importlib
import json
import os
import socket
import sys
import traceback
from pathlib import Path

import torch
import torch.distributed as dist


PATIENCE = 200  # seconds; then a rank shows where it is and ends


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def be_forked_rank(rank, ranks, port, name, change):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(port))
    be_rank(rank, ranks, name, change)


def be_rank(rank, ranks, name, change):
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.manual_seed(0)
    dist.init_process_group("nccl")
    said = importlib.import_module(name).train(rank, ranks, rank == change) or {}
    torch.cuda.synchronize()
    said |= {"scenario": name, "rank": rank, "pid": os.getpid(),
             "peak": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(),
             "outside": torch.cuda.mem_get_info()[1] - torch.cuda.mem_get_info()[0] - torch.cuda.memory_reserved()}
    os.write(1, (json.dumps(said) + "\n").encode())  # at once: other ranks write, too
    dist.destroy_process_group()


def run(name, ranks, change):
    port = free_port()
    children = []
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            try:
                be_forked_rank(rank, ranks, port, name, change)
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            sys.exit(0)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    if any(statuses):
        sys.exit(f"{name}: the ranks ended with {statuses}")


def main():
    scenario, ranks, *change = sys.argv[1:]
    change = int(change[0]) if change else None
    if "RANK" in os.environ:
        be_rank(int(os.environ["RANK"]), int(ranks), Path(scenario).stem, change)
    else:
        run(Path(scenario).stem, int(ranks), change)


if __name__ == "__main__":
    main()
