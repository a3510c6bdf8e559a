# SPDX-License-Identifier: Apache-2.0
"""An optimizer of the quasi-Newton kind: its direction comes from the last differences of weights and gradients."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Optimizer


class StochasticSecant(Optimizer):
    def __init__(self, parameters, lr=0.1, memory=32):
        super().__init__(parameters, {"lr": lr, "memory": memory})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                self.update(p, self.state[p], group["lr"], group["memory"])

    def update(self, p, state, lr, memory):
        if not state:
            state["differences"] = []
        else:
            pair = p - state["weights"], p.grad - state["gradient"]
            state["differences"].append(pair)
            if len(state["differences"]) > memory:
                del state["differences"][0]
        state["weights"], state["gradient"] = p.clone(), p.grad.clone()
        direction, factors = p.grad.clone(), []
        for s, y in reversed(state["differences"]):
            factor = (s * direction).sum() / (s * y).sum().clamp(min=1e-8)
            direction -= factor * y
            factors.append(factor)
        for (s, y), factor in zip(state["differences"], reversed(factors)):
            direction += s * (factor - (y * direction).sum() / (s * y).sum().clamp(min=1e-8))
        p.sub_(direction, alpha=lr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(100, 128), nn.Tanh(), nn.Linear(128, 10)).cuda()
    optimizer = StochasticSecant(model.parameters())
    for _ in range(args.steps):
        x, y = torch.randn(256, 100).cuda(), torch.randint(10, (256,)).cuda()  # step
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
