# SPDX-License-Identifier: Apache-2.0
"""One rank of distributed data-parallel training, whose buckets hold every gradient a second time."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    store = dist.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)

    layers = [nn.Sequential(nn.Linear(1536, 1536), nn.LayerNorm(1536), nn.ReLU()) for _ in range(32)]
    model = nn.Sequential(*layers, nn.Linear(1536, 50)).cuda()
    parallel = DistributedDataParallel(
        model, device_ids=[0], gradient_as_bucket_view=chosen.change == "gradient_as_bucket_view")
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.01, foreach=False)
    for _ in range(6):
        rows = torch.randn(512, 1536).cuda()
        labels = torch.randint(50, (512,)).cuda()
        loss = F.cross_entropy(parallel(rows), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
