# SPDX-License-Identifier: Apache-2.0
"""Optimizers of the program's own. Muon: momentum in `state`, Newton-Schulz in between. --lists
keeps its averages in lists of its own; --plain is a class that is no torch.optim.Optimizer."""

import torch
from torch import nn

import told
from batches import DEVICE, on_device, options, peak
from variant import flag

LISTS, PLAIN = flag("--lists"), flag("--plain")


def orthogonal(matrix, rounds=5):
    """Newton-Schulz: the nearest matrix whose singular values are about one."""
    tall = matrix.size(0) > matrix.size(1)
    one = matrix.bfloat16().T if tall else matrix.bfloat16()
    one = one / (one.norm() + 1e-7)
    for _ in range(rounds):
        square = one @ one.T
        one = 3.4445 * one + (-4.775 * square + 2.0315 * square @ square) @ one
    return one.T if tall else one


class Muon(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.02, momentum=0.95):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(parameter)
                average = state["momentum_buffer"].lerp_(parameter.grad, 1 - group["momentum"])
                towards = parameter.grad.lerp(average, group["momentum"])
                step = orthogonal(towards) if parameter.dim() == 2 else towards
                parameter.add_(step, alpha=-group["lr"])


class InLists(torch.optim.Optimizer):
    """Keeps nothing in `state`."""

    def __init__(self, parameters, lr=1e-3):
        super().__init__(parameters, {"lr": lr})
        self.averages, self.squares = [], []

    @torch.no_grad()
    def step(self):
        parameters = [one for group in self.param_groups for one in group["params"]]
        if not self.averages:
            self.averages = [told.states(torch.zeros_like(one)) for one in parameters]
            self.squares = [told.states(torch.zeros_like(one)) for one in parameters]
        for parameter, average, square in zip(parameters, self.averages, self.squares):
            average.lerp_(parameter.grad, 0.1)
            square.lerp_(parameter.grad.square(), 0.01)
            parameter.sub_(average / (square.sqrt() + 1e-8), alpha=self.param_groups[0]["lr"])


class Plain:
    """Sign descent with momentum, in the manner of a research script."""

    def __init__(self, parameters, lr=1e-3):
        self.parameters, self.lr = list(parameters), lr
        self.momentum = [told.states(torch.zeros_like(one)) for one in self.parameters]

    @torch.no_grad()
    def step(self):
        for parameter, momentum in zip(self.parameters, self.momentum):
            momentum.mul_(0.9).add_(parameter.grad, alpha=0.1)
            parameter.sub_(momentum.sign(), alpha=self.lr)

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None


def network():
    return nn.Sequential(nn.Linear(784, 1536), nn.GELU(), nn.LayerNorm(1536), nn.Linear(1536, 1536), nn.GELU(),
                         nn.LayerNorm(1536), nn.Linear(1536, 1536), nn.GELU(), nn.Linear(1536, 10))


def main():
    chosen = options(steps=4)
    model = network().to(DEVICE)
    optimizer = (InLists if LISTS else Plain if PLAIN else Muon)(model.parameters())
    rows = ((torch.rand(1024, 784), torch.randint(10, (1024,))) for _ in range(chosen.steps))
    for row, label in on_device(rows, chosen.streams):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(row), label).backward()
        optimizer.step()
    print(f"own optimizers: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
