# SPDX-License-Identifier: Apache-2.0
"""An optimizer that looks at curvature every eighth step, for the first time in the eighth; the estimate is renewed."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Curved(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, decay=0.95):
        super().__init__(params, {"lr": lr, "decay": decay})

    def curvature(self, loss):
        params = [p for group in self.param_groups for p in group["params"]]
        slopes = torch.autograd.grad(loss, params, create_graph=True)
        probes = [torch.randn_like(p) for p in params]
        products = torch.autograd.grad(sum((s * v).sum() for s, v in zip(slopes, probes)), params)
        with torch.no_grad():
            for p, probe, product in zip(params, probes, products):
                state = self.state[p]
                if "bend" not in state:
                    state["bend"] = torch.zeros_like(p)
                state["bend"].lerp_(probe * product, 0.05)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "mean" not in state:
                    state["mean"] = torch.zeros_like(p)
                state["mean"].lerp_(p.grad, 1 - group["decay"])
                bend = state.get("bend")
                move = state["mean"] if bend is None else state["mean"] / bend.clamp(min=0.1)
                p.sub_(move, alpha=group["lr"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=38)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(90, 220), nn.Tanh(), nn.Linear(220, 30)).cuda()
    optimizer = Curved(net.parameters())
    for step in range(1, args.steps + 1):
        rows, kinds = torch.randn(80, 90).cuda(), torch.randint(30, (80,)).cuda()  # step
        if step % 8 == 0:
            optimizer.curvature(F.cross_entropy(net(rows), kinds))
        loss = F.cross_entropy(net(rows), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
