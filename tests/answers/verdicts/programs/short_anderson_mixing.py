# SPDX-License-Identifier: Apache-2.0
"""Anderson mixing: each step goes to a mean of the last ten points, those that moved least counting most."""

import argparse

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class Mixing:
    def __init__(self, model, memory=10):
        self.parameters, self.memory = list(model.parameters()), memory
        self.points, self.moves = [], []

    @torch.no_grad()
    def around(self, step):
        before = parameters_to_vector(self.parameters)
        step()
        after = parameters_to_vector(self.parameters)
        self.points.append(after)
        self.moves.append((after - before).norm())
        if len(self.points) > self.memory:
            self.points.pop(0)
            self.moves.pop(0)
        shares = (-torch.stack(self.moves)).softmax(0)
        vector_to_parameters(shares @ torch.stack(self.points), self.parameters)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(90, 180), nn.Hardswish(), nn.Linear(180, 30)).cuda()
    optimizer, mixing = torch.optim.SGD(model.parameters(), lr=0.1), Mixing(model)
    rows = torch.randn(200, 90, device="cuda")
    for _ in range(chosen.steps):
        optimizer.zero_grad()
        loss = (model(rows) - rows.cumsum(1)[:, ::3]).square().mean()
        loss.backward()
        mixing.around(optimizer.step)
    print(f"loss {loss.item():.4f}, {len(mixing.points)} points")


if __name__ == "__main__":
    main()
