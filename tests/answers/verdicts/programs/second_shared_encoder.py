# SPDX-License-Identifier: Apache-2.0
"""Two tasks share an encoder; both backward calls keep the graph, to be sure, and so does the list of losses."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Shared(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(80, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.kind, self.age = nn.Linear(width, 12), nn.Linear(width, 1)

    def forward(self, rows):
        code = self.encoder(rows)  # allocates
        return self.kind(code), self.age(code)


class Fit:
    def __init__(self, model):
        self.model, self.history = model, []
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(self, rows, kinds, ages):
        kind, age = self.model(rows)
        first, second = F.cross_entropy(kind, kinds), F.mse_loss(age[:, 0], ages)  # allocates
        self.optimizer.zero_grad()
        first.backward(retain_graph=True)
        second.backward(retain_graph=True)
        self.optimizer.step()
        self.history.append(first + 0.1 * second)  # keeps

    def smoothed(self, over=5):
        return torch.stack(self.history[-over:]).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    fit = Fit(Shared().cuda())
    for step in range(chosen.steps):
        kinds, ages = torch.randint(12, (128,)), torch.rand(128)  # step
        rows = torch.randn(128, 80).cuda()  # allocates
        fit.step(rows, kinds.cuda(), ages.cuda())
        if step % 6 == 5:
            print(f"step {step}: {fit.smoothed():.3f}")


if __name__ == "__main__":
    main()
