# SPDX-License-Identifier: Apache-2.0
"""Instance segmentation with pasted things: six crops of each of eight kinds, three new crops a step."""

import argparse
from collections import defaultdict, deque
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

KINDS = 8


class Crops:
    def __init__(self, each=6):
        self.by_kind = defaultdict(partial(deque, maxlen=each))

    def collect(self, number, pictures):
        for offset in range(3):
            kind = (3 * number + offset) % KINDS
            self.by_kind[kind].append(pictures[offset, :, 8:56, 8:56].clone())

    def paste(self, number, pictures):
        for index, crops in enumerate(self.by_kind.values()):
            if index < len(pictures):
                pictures[index, :, 4:52, 4:52] = crops[number % len(crops)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=23)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, KINDS, 3, padding=1)).cuda()
    optimizer, crops = torch.optim.SGD(net.parameters(), lr=0.01), Crops()
    for step in range(args.steps):
        pictures = torch.rand(6, 3, 64, 64).cuda()  # step
        crops.collect(step, pictures)
        crops.paste(step, pictures)
        loss = F.cross_entropy(net(pictures), torch.randint(KINDS, (6, 64, 64)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
