# SPDX-License-Identifier: Apache-2.0
"""An adapter for each of thirteen languages; at most four are on the GPU, the others wait on the host."""

import argparse

import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, width, rank=16):
        super().__init__()
        self.down, self.up = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False)

    def forward(self, x):
        return x + self.up(self.down(x))


class Pool:
    def __init__(self, width, resident=4):
        self.width, self.resident = width, resident
        self.on_gpu, self.on_host = {}, {}

    def get(self, language):
        if language not in self.on_gpu:
            adapter = self.on_host.pop(language, None) or Adapter(self.width)
            self.on_gpu[language] = adapter.cuda()
            if len(self.on_gpu) > self.resident:
                oldest = next(iter(self.on_gpu))
                leaving = self.on_gpu.pop(oldest)
                leaving.zero_grad(set_to_none=True)
                self.on_host[oldest] = leaving.cpu()
        return self.on_gpu[language]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=39)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    base, head = nn.Linear(100, 384).cuda().requires_grad_(False), nn.Linear(384, 100).cuda().requires_grad_(False)
    pool = Pool(384)
    for step in range(args.steps):
        adapter = pool.get(f"language {step // 3 % 13}")  # step
        optimizer = torch.optim.SGD(adapter.parameters(), lr=0.1)
        rows = torch.randn(64, 100, device="cuda")
        loss = (head(adapter(base(rows))) - rows).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"{len(pool.on_gpu)} on the GPU, {len(pool.on_host)} on the host")


if __name__ == "__main__":
    main()
