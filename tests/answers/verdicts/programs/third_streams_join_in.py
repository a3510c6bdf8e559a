# SPDX-License-Identifier: Apache-2.0
"""Five streams bring batches to the GPU by turns; a new one joins in every other step, and has to warm up."""

import argparse

import torch
from torch import nn


class Feeder:
    """A batch of each stream's own memory waits until the stream is asked again."""

    def __init__(self, most=5):
        self.most, self.streams, self.waiting = most, [], []

    def join(self):
        if len(self.streams) < self.most:
            self.streams.append(torch.cuda.Stream())
            self.waiting.append(None)

    def next(self, step):
        if step % 2 == 0:
            self.join()
        which = step % len(self.streams)
        with torch.cuda.stream(self.streams[which]):
            batch = torch.rand(64, 3, 40, 40).pin_memory().cuda(non_blocking=True)
            self.waiting[which] = (batch - 0.5) * 2
        torch.cuda.current_stream().wait_stream(self.streams[which])
        self.waiting[which].record_stream(torch.cuda.current_stream())
        return self.waiting[which]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).cuda()
    net(torch.zeros(1, 3, 40, 40, device="cuda"))
    optimizer, feeder = torch.optim.SGD(net.parameters(), lr=0.01), Feeder()
    for step in range(args.steps):
        batch = feeder.next(step)  # step
        loss = net(batch).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
