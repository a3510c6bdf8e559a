# SPDX-License-Identifier: Apache-2.0
"""A quasi-Newton optimizer: its direction comes from the last eight pairs of moves and changes of slope."""

import argparse
from collections import deque

import torch
from torch import nn


class LimitedMemory:
    def __init__(self, parameters, rate=0.1, history=8):
        self.parameters, self.rate = list(parameters), rate
        self.moves, self.changes = deque(maxlen=history), deque(maxlen=history)
        self.at = self.slope = None

    def flat(self, tensors):
        return torch.cat([tensor.flatten() for tensor in tensors])

    def direction(self, slope):
        q, factors = slope.clone(), []
        for s, y in zip(reversed(self.moves), reversed(self.changes)):
            factors.append(s.dot(q) / (y.dot(s) + 1e-8))
            q.sub_(factors[-1] * y)
        for s, y, factor in zip(self.moves, self.changes, reversed(factors)):
            q.add_(s * (factor - y.dot(q) / (y.dot(s) + 1e-8)))
        return q

    @torch.no_grad()
    def step(self):
        slope = self.flat(parameter.grad for parameter in self.parameters)
        at = self.flat(self.parameters)
        if self.at is not None:
            self.moves.append(at - self.at)
            self.changes.append(slope - self.slope)
        self.at, self.slope = at, slope
        start, way = 0, self.direction(slope)
        for parameter in self.parameters:
            parameter.sub_(self.rate * way[start:start + parameter.numel()].view_as(parameter))
            start += parameter.numel()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(40, 160), nn.Tanh(), nn.Linear(160, 40)).cuda()
    optimizer = LimitedMemory(net.parameters())
    rows = torch.randn(512, 40, device="cuda")
    for _ in range(args.steps):
        net.zero_grad()  # step
        loss = (net(rows) - rows.flip(1)).square().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
