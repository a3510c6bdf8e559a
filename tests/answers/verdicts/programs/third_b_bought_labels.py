# SPDX-License-Identifier: Apache-2.0
"""Active learning: every three steps labels of twenty-four samples are bought, and they move to the GPU, until the
money is spent."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Labelled:
    def __init__(self, samples, kinds, money):
        self.rows, self.kinds = samples[:16].cuda(), kinds[:16].cuda()
        self.money, self.bought = money, 16

    def buy(self, samples, kinds, picks):
        self.rows = torch.cat([self.rows, samples[picks].cuda()])
        self.kinds = torch.cat([self.kinds, kinds[picks].cuda()])
        self.money -= len(picks)


def doubt(net, samples):
    with torch.no_grad():
        chances = torch.cat([net(part.cuda()).softmax(-1).cpu() for part in samples.split(500)])
    return -(chances * chances.clamp_min(1e-9).log()).sum(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=51)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--money", type=int, default=264)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    samples, kinds = torch.randn(1000, 2, 24, 24), torch.randint(6, (1000,))
    net = nn.Sequential(nn.Conv2d(2, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(800, 6)).cuda()
    optimizer, labelled = torch.optim.SGD(net.parameters(), lr=0.02), Labelled(samples, kinds, args.money)
    for step in range(args.steps):
        if step % 3 == 2 and labelled.money >= 24:
            labelled.buy(samples, kinds, doubt(net, samples).topk(24).indices)
        picks = torch.randint(len(labelled.rows), (32,), device="cuda")  # step
        loss = F.cross_entropy(net(labelled.rows[picks]), labelled.kinds[picks])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{len(labelled.rows)} labels")


if __name__ == "__main__":
    main()
