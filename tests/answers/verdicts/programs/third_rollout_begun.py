# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimisation with rollouts of twelve steps; the run ends four steps into the third of them."""

import argparse

import torch
from torch import nn


class Rollout:
    def __init__(self, length=12):
        self.length, self.steps = length, []

    def add(self, **step):
        self.steps.append(step)

    def full(self):
        return len(self.steps) == self.length

    def column(self, name):
        return torch.cat([step[name] for step in self.steps])

    def clear(self):
        self.steps = []


def learn(net, optimizer, rollout):
    frames, before, gains = (rollout.column(name) for name in ("frames", "chances", "rewards"))
    for part in torch.arange(len(frames)).chunk(4):
        part = part.cuda()
        ratio = (net(frames[part]).log_softmax(1)[:, 0] - before[part]).exp()
        loss = -torch.minimum(ratio * gains[part], ratio.clamp(0.8, 1.2) * gains[part]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(4, 16, 8, 4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 100, 6)).cuda()
    optimizer, rollout = torch.optim.Adam(net.parameters(), lr=3e-4), Rollout()
    for _ in range(args.steps):
        host = torch.rand(8, 4, 44, 44)  # step
        frames = host.cuda()  # fills
        with torch.no_grad():
            chances = net(frames).log_softmax(1)[:, 0]
        rollout.add(frames=frames, chances=chances, rewards=torch.rand(8).cuda())
        if rollout.full():
            learn(net, optimizer, rollout)
            rollout.clear()
    print(f"{len(rollout.steps)} steps wait")


if __name__ == "__main__":
    main()
