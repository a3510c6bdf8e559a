# SPDX-License-Identifier: Apache-2.0
"""SAGA on sixty fixed mini-batches: a batch's new gradient is set against the one that the batch had before."""

import argparse
import random

import torch
from torch import nn

BATCHES = 60


class Saga(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.02):
        super().__init__(parameters, {"lr": lr})
        self.table = {}
        self.mean = None

    def parameters(self):
        return [parameter for group in self.param_groups for parameter in group["params"]]

    @torch.no_grad()
    def step(self, batch):
        fresh = [parameter.grad.clone() for parameter in self.parameters()]
        if self.mean is None:
            self.mean = [torch.zeros_like(one) for one in fresh]
        before = self.table.get(batch) or [torch.zeros_like(one) for one in fresh]
        for parameter, new, old, mean in zip(self.parameters(), fresh, before, self.mean):
            parameter.sub_(self.param_groups[0]["lr"] * (new - old + mean))
            mean.add_((new - old) / BATCHES)
        self.table[batch] = fresh


def passes(rng):
    while True:
        order = list(range(BATCHES))
        rng.shuffle(order)
        yield from order


def load(batch, rows=24):
    generator = torch.Generator().manual_seed(batch)
    inputs = torch.randn(rows, 30, generator=generator)
    return inputs.cuda(), inputs[:, :10].argmax(1).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = Saga(model.parameters())
    order = passes(random.Random(chosen.seed))
    for step in range(chosen.steps):
        batch = next(order)  # step
        inputs, wanted = load(batch)
        loss = nn.functional.cross_entropy(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step(batch)
        if step % 15 == 14:
            print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
