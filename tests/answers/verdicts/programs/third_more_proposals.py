# SPDX-License-Identifier: Apache-2.0
"""A detector of two stages looks at more proposals from step to step, up to 400; they go with the step."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class TwoStages(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU())
        self.score = nn.Conv2d(width, 1, 1)
        self.head = nn.Sequential(nn.Linear(width * 49, 128), nn.ReLU(), nn.Linear(128, 6))

    def forward(self, pictures, proposals):
        seen = self.body(pictures)
        scores = self.score(seen).flatten()
        cuts = seen.unfold(2, 7, 1).unfold(3, 7, 1).permute(0, 2, 3, 1, 4, 5).flatten(0, 2)[:proposals]
        return self.head(cuts.flatten(1)), scores[:proposals]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, last = TwoStages().cuda(), None
    optimizer = torch.optim.SGD(net.parameters(), lr=0.005, momentum=0.9)
    for step in range(args.steps):
        pictures = torch.rand(4, 3, 64, 64).cuda()  # step
        last = net(pictures, proposals=min(40 + 16 * step, 400))
        kinds, scores = last
        nothing = torch.zeros(len(kinds), dtype=torch.long, device="cuda")
        loss = F.cross_entropy(kinds, nothing) + scores.sigmoid().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(last[0])} proposals")


if __name__ == "__main__":
    main()
