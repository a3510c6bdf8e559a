# SPDX-License-Identifier: Apache-2.0
"""An optimizer that goes by the median of the last three gradients; its state has all of them."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class MedianSGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, window=3):
        super().__init__(params, {"lr": lr, "window": window})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                state.setdefault("history", [])
                gradient = p.grad.clone()  # allocates
                state["history"].append(gradient)  # keeps
                recent = torch.stack(state["history"][-group["window"]:])
                p.sub_(recent.median(0).values, alpha=group["lr"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=22)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(128, 96), nn.SiLU(), nn.Linear(96, 10)).cuda()
    optimizer = MedianSGD(model.parameters())
    for step in range(chosen.steps):
        rows, kinds = torch.randn(200, 128).cuda(), torch.randint(10, (200,)).cuda()  # step
        loss = F.cross_entropy(model(rows), kinds, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
