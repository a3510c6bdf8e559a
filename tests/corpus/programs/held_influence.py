# SPDX-License-Identifier: Apache-2.0
"""Gradients of single examples with torch.func, to tell later which examples mattered most."""

import argparse
from typing import NamedTuple

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

class Scored(NamedTuple):
    step: int
    gradients: dict


class Influence:
    def __init__(self, model):
        self.model = model
        self.per_example = vmap(grad(self.loss), in_dims=(None, 0, 0))
        self.scored = []

    def loss(self, weights, row, label):
        logits = functional_call(self.model, weights, (row[None],))
        return F.cross_entropy(logits, label[None])

    def add(self, step, rows, labels):
        weights = {name: weight.detach() for name, weight in self.model.named_parameters()}
        gradients = self.per_example(weights, rows, labels)  # allocates
        self.scored.append(Scored(step, gradients))  # keeps

    def latest(self):
        return sum(one.flatten(1).square().sum(1) for one in self.scored[-1].gradients.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 4)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    influence = Influence(model)
    for step in range(chosen.steps):
        rows, labels = torch.randn(32, 32).cuda(), torch.randint(4, (32,)).cuda()
        influence.add(step, rows, labels)
        strength = influence.latest().sqrt().mean().item()
        optimizer.zero_grad()
        F.cross_entropy(model(rows), labels).backward()
        optimizer.step()
    print(f"strength {strength:.3f}")


if __name__ == "__main__":
    main()
