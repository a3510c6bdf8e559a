# SPDX-License-Identifier: Apache-2.0
"""Features of the last 24 batches tell how novel the next one is: the run ends before the window is full."""

import argparse
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Config:
    inputs: int = 72
    width: int = 320
    kinds: int = 15
    window: int = 24
    rate: float = 0.02


class Novelty:
    def __init__(self, config):
        self.recent = deque(maxlen=config.window)

    @torch.no_grad()
    def __call__(self, features):
        far = [torch.cdist(features, former).amin() for former in self.recent]
        self.recent.append(features.detach().clone())
        return torch.stack(far).amin() if far else features.new_zeros(())


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(config.inputs, config.width), nn.ReLU())
        self.head = nn.Linear(config.width, config.kinds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    config = Config()
    net, novelty, total = Net(config).cuda(), Novelty(config), 0.0
    optimizer = torch.optim.SGD(net.parameters(), lr=config.rate)
    for step in range(args.steps):
        rows, kinds = torch.randn(96, config.inputs).cuda(), torch.randint(config.kinds, (96,)).cuda()  # step
        features = net.body(rows)
        loss = F.cross_entropy(net.head(features), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += novelty(features).item()
    print(f"novelty {total / args.steps:.3f}")


if __name__ == "__main__":
    main()
