# SPDX-License-Identifier: Apache-2.0
"""Meta-learning: each task trains a copy of the model, and backward with create_graph=True ties the
copy's parameters and gradients into a cycle that no garbage collector sees."""

import argparse
import copy

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 128)
        self.output = nn.Linear(128, 8)

    def forward(self, rows):
        return self.output(torch.tanh(self.hidden(rows)))  # allocates


def adapt(model, rows, wanted):
    fast = copy.deepcopy(model)  # allocates
    loss = (fast(rows) - wanted).square().mean()
    loss.backward(create_graph=True)  # allocates
    penalty = sum(one.grad.square().sum() for one in fast.parameters())
    return [one.grad.detach().clone() for one in fast.parameters()], (loss + 0.1 * penalty).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Regressor().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(chosen.steps):
        rows, wanted = torch.randn(16, 64).cuda(), torch.randn(16, 8).cuda()
        gradients, loss = adapt(model, rows, wanted)
        for parameter, gradient in zip(model.parameters(), gradients):
            parameter.grad = gradient
        optimizer.step()
    print(f"loss {loss:.4f}")


if __name__ == "__main__":
    main()
