# SPDX-License-Identifier: Apache-2.0
"""Born-again networks: each generation learns from the one before, and knows it."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

@dataclass
class Generation:
    number: int
    model: nn.Module
    optimizer: torch.optim.Optimizer
    previous: "Generation | None" = None

    @classmethod
    def after(cls, previous):
        model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32)).cuda()  # allocates
        number = previous.number + 1 if previous else 0
        return cls(number, model, torch.optim.Adam(model.parameters()), previous)  # keeps

    def loss(self, rows, labels):
        logits = self.model(rows)
        loss = F.cross_entropy(logits, labels)
        if self.previous is not None:
            with torch.no_grad():
                wanted = self.previous.model(rows).softmax(1)
            loss = loss + F.kl_div(logits.log_softmax(1), wanted, reduction="batchmean")
        return loss

    def learn(self, rows, labels):
        self.optimizer.zero_grad()
        loss = self.loss(rows, labels)
        loss.backward()  # allocates
        self.optimizer.step()  # allocates
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    generation = Generation.after(None)
    for step in range(chosen.steps):
        if step and step % 10 == 0:
            generation = Generation.after(generation)
        generation.learn(torch.randn(64, 64).cuda(), torch.randint(32, (64,)).cuda())
    print(f"{generation.number + 1} generations")


if __name__ == "__main__":
    main()
