# SPDX-License-Identifier: Apache-2.0
"""Active learning on a stream: each night's recordings are embedded, and the most diverse are labelled."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, inputs=96, width=128, classes=12):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))
        self.head = nn.Linear(width, classes)

    def embed(self, x):
        return self.body(x)  # allocates

    def forward(self, x):
        return self.head(self.body(x))


class CoreSet:
    """Picks greedily what is farthest from all that was picked before in the same round."""

    def __init__(self, model, budget):
        self.model, self.budget = model, budget
        self.rounds = []

    @torch.no_grad()
    def query(self, recordings):
        embedded = self.model.embed(recordings.cuda())
        self.rounds.append(embedded)  # keeps
        distances = torch.cdist(self.rounds[-1], self.rounds[-1][:1]).squeeze(1)
        picked = []
        for _ in range(self.budget):
            picked.append(distances.argmax())
            to_it = torch.cdist(embedded, embedded[picked[-1]][None]).squeeze(1)
            distances = torch.minimum(distances, to_it)
        return torch.stack(picked).cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nightly", type=int, default=5, help="batches between two nights")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Model().cuda()
    chooser = CoreSet(model, budget=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    labelled = torch.randn(64, 96)
    for step in range(args.steps):
        night_falls = step % args.nightly == 0  # step
        if night_falls:
            tonight = torch.randn(512, 96)
            labelled[torch.randperm(64)[:4]] = tonight[chooser.query(tonight)]
        x, y = labelled[torch.randperm(64)[:32]].cuda(), torch.randint(12, (32,)).cuda()
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
