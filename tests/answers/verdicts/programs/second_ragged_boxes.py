# SPDX-License-Identifier: Apache-2.0
"""Detection: pictures of many sizes, each with some boxes, whose features are cut out; no two steps are alike."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class Detector(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU())
        self.kind, self.place = nn.Linear(width * 16, 8), nn.Linear(width * 16, 4)

    def forward(self, picture, boxes):
        features = self.look(picture)
        cuts = [F.adaptive_max_pool2d(features[:, :, y:y + 6, x:x + 6], 4).flatten(1) for y, x in boxes]
        cuts = torch.cat(cuts)
        return self.kind(cuts), self.place(cuts)


def example(rng):
    height, width = rng.randrange(48, 144, 4), rng.randrange(48, 144, 4)
    boxes = [(rng.randrange(height // 4 - 6), rng.randrange(width // 4 - 6)) for _ in range(rng.randint(1, 30))]
    return torch.rand(1, 3, height, width).cuda(), boxes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng, net = random.Random(args.seed), Detector().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for _ in range(args.steps):
        picture, boxes = example(rng)  # step
        kinds, places = net(picture, boxes)
        truth = torch.tensor(boxes, device="cuda").float()
        loss = kinds.logsumexp(1).mean() + F.smooth_l1_loss(places[:, :2], truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
