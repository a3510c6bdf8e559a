# SPDX-License-Identifier: Apache-2.0
"""A loader that reads further ahead from time to time: a batch more every seven steps, up to six of them."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return torch.full((3, 40, 40), index / 4096), index % 16


class Ahead:
    def __init__(self, loader, most=6, every=7):
        self.loader, self.most, self.every = loader, most, every

    def __iter__(self):
        ready, taken = deque(), 0
        for pictures, kinds in self.loader:
            ready.append((pictures.cuda(), kinds.cuda()))
            if len(ready) > min(1 + taken // self.every, self.most):
                taken += 1
                yield ready.popleft()


def epochs(ahead):
    while True:
        yield from ahead


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=43)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 8, 5, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(16)).cuda()
    net(torch.zeros(1, 3, 40, 40, device="cuda"))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    ahead = Ahead(DataLoader(Patches(), batch_size=16))
    for _, (pictures, kinds) in zip(range(args.steps), epochs(ahead)):
        loss = F.cross_entropy(net(pictures), kinds)  # step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
