# SPDX-License-Identifier: Apache-2.0
"""Lookahead round Adam: the slow weights are made at the fifth step, the average for tests at the tenth."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Lookahead:
    def __init__(self, inner, every=5, pull=0.5):
        self.inner, self.every, self.pull = inner, every, pull
        self.slow, self.count = None, 0

    def parameters(self):
        return [p for group in self.inner.param_groups for p in group["params"]]

    @torch.no_grad()
    def step(self):
        self.inner.step()
        self.count += 1
        if self.count % self.every:
            return
        if self.slow is None:
            self.slow = [p.clone() for p in self.parameters()]
        for slow, p in zip(self.slow, self.parameters()):
            p.copy_(slow.lerp_(p, self.pull))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 7)).cuda()
    optimizer = Lookahead(torch.optim.Adam(net.parameters()))
    average = None
    for step in range(1, args.steps + 1):
        loss = F.cross_entropy(net(torch.randn(32, 300).cuda()), torch.randint(7, (32,)).cuda())  # step
        optimizer.inner.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 10:
            average = torch.optim.swa_utils.AveragedModel(net)
        elif step > 10:
            average.update_parameters(net)
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
