# SPDX-License-Identifier: Apache-2.0
"""Each step's gradients are compared with those of a query picture, to find what taught the model most."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=28)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Influence:
    def __init__(self, model):
        self.model, self.steps = model, []

    def note(self):
        self.steps.append(tuple(parameter.grad for parameter in self.model.parameters()))  # keeps

    def last(self, query):
        return sum((one * other).sum() for one, other in zip(self.steps[-1], query)).item()


def main():
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    influence = Influence(model)
    query = [torch.zeros_like(parameter) for parameter in model.parameters()]
    for _ in range(options.steps):
        x = torch.randn(64, 1, 28, 28, device="cuda")  # step
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), torch.zeros(64, dtype=torch.long, device="cuda"))
        loss.backward()  # allocates
        optimizer.step()
        influence.note()
        print(influence.last(query))


main()
