# SPDX-License-Identifier: Apache-2.0
"""One rank of two under torchrun: DistributedDataParallel over NCCL. --view lets the gradients be
views of the communication buckets, --accumulate adds up two batches before they are exchanged."""

import contextlib
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

import told
from batches import DEVICE, on_device, options, peak
from variant import flag

ACCUMULATE = flag("--accumulate")
VIEW = "--view" in sys.argv
# Seconds. NCCL's own thread looks now and then which communication is over, and only then lets go
# of its memory: without a pause each run allocates differently.
NCCLS_THREAD_WAKES = 0.3


def reduce_and_tell(group, bucket):
    told.bucket(bucket.buffer())
    return default_hooks.allreduce_hook(group, bucket)


def network():
    layers = [nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
    for _ in range(4):
        layers += [nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(4096, 2048),
                         nn.ReLU(), nn.Linear(2048, 100))


def main():
    if VIEW:
        sys.argv.remove("--view")
    chosen = options(steps=4)
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    model = nn.parallel.DistributedDataParallel(
        network().to(DEVICE), device_ids=[rank], gradient_as_bucket_view=VIEW
    )
    model.register_comm_hook(None, reduce_and_tell)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    pictures = (
        (torch.zeros(32, 3, 32, 32), torch.zeros(32, dtype=torch.long)) for _ in range(chosen.steps)
    )
    for index, (image, label) in enumerate(on_device(pictures, chosen.streams)):
        alone = ACCUMULATE and index % 2 == 0
        with model.no_sync() if alone else contextlib.nullcontext():
            nn.functional.cross_entropy(model(image), label).backward()
        if not alone:
            optimizer.step()
            optimizer.zero_grad()
        torch.cuda.synchronize()
        time.sleep(NCCLS_THREAD_WAKES)
    print(f"ddp: rank {rank}, {chosen.steps} steps, peak {peak()} bytes", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
