# SPDX-License-Identifier: Apache-2.0
"""Two buffers by turns: one is trained on while the next batch, of larger pictures, is copied into the other."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class TwoBuffers:
    def __init__(self, sizes):
        self.sizes, self.buffers, self.turn = sizes, [None, None], 0
        self.stream = torch.cuda.Stream()

    def load(self, step):
        size = self.sizes[min(step, len(self.sizes) - 1)]
        with torch.cuda.stream(self.stream):
            self.buffers[self.turn] = torch.rand(12, 3, size, size).pin_memory().cuda(non_blocking=True)
        self.turn = 1 - self.turn

    def take(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.buffers[1 - self.turn]
        batch.record_stream(torch.cuda.current_stream())
        return batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 24, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(6), nn.Flatten(),
                        nn.Linear(24 * 36, 12)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
    buffers = TwoBuffers(range(32, 96, 4))
    buffers.load(0)
    for step in range(args.steps):
        batch = buffers.take()  # step
        buffers.load(step + 1)
        loss = F.cross_entropy(net(batch), torch.arange(12, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
