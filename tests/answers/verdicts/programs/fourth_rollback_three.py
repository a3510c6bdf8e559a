# SPDX-License-Identifier: Apache-2.0
"""A trainer that can go back to one of its last three good points, made every fifth step."""

import argparse
import copy

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=45)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Points:
    def __init__(self, kept):
        self.kept, self.by_step = kept, {}

    def make(self, step, model, optimizer):
        self.by_step[step] = copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
        for old in sorted(self.by_step)[:-self.kept]:
            del self.by_step[old]

    def back(self, model, optimizer):
        point = self.by_step[max(self.by_step)]
        model.load_state_dict(point["model"])
        optimizer.load_state_dict(point["optimizer"])


def main():
    model = nn.Sequential(nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 300)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    points = Points(kept=3)
    for step in range(options.steps):
        x = torch.randn(32, 300, device="cuda")  # step
        loss = (model(x) - x).square().mean()
        if loss.item() > 1e6:
            points.back(model, optimizer)
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            points.make(step, model, optimizer)


main()
