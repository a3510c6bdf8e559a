# SPDX-License-Identifier: Apache-2.0
"""An optimizer like Shampoo: factors from the first step on, their roots from the sixth, all renewed in place."""

import argparse

import torch
from torch import nn


class Preconditioned(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.02, every=6):
        super().__init__(parameters, {"lr": lr, "every": every})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                self.move(parameter, group)

    def move(self, parameter, group):
        gradient, state = parameter.grad, self.state[parameter]
        gradient = gradient if gradient.dim() == 2 else gradient[:, None]
        if not state:
            state["steps"], state["momentum"] = 0, torch.zeros_like(parameter)
            state["factors"] = [torch.eye(size, device=gradient.device) for size in gradient.shape]
        state["steps"] += 1
        state["factors"][0].add_(gradient @ gradient.T)
        state["factors"][1].add_(gradient.T @ gradient)
        if state["steps"] % group["every"] == 0:
            # Rows and columns only: a root of the diagonal is near enough here.
            state["roots"] = [torch.diag(factor.diagonal().pow(-0.25)) for factor in state["factors"]]
        if "roots" in state:
            gradient = state["roots"][0] @ gradient @ state["roots"][1]
        state["momentum"].mul_(0.9).add_(gradient.view_as(parameter))
        parameter.sub_(group["lr"] * state["momentum"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(96, 160), nn.ReLU(), nn.Linear(160, 48)).cuda()
    optimizer = Preconditioned(model.parameters())
    for _ in range(chosen.steps):
        rows = torch.randn(64, 96, device="cuda")
        optimizer.zero_grad()
        loss = (model(rows) - rows[:, :48].relu()).square().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
