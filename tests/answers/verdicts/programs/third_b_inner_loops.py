# SPDX-License-Identifier: Apache-2.0
"""MAML with torch.func: the inner loop takes one step at first, and one more after every three, up to five."""

import argparse

import torch
from torch import nn
from torch.func import functional_call, grad, vmap


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

    def loss_of(weights, rows, wanted):
        return (functional_call(net, weights, (rows,)).squeeze(-1) - wanted).square().mean()

    def task_loss(weights, rows, wanted, loops):
        for _ in range(loops):
            slopes = grad(loss_of)(weights, rows[:10], wanted[:10])
            weights = {name: weights[name] - 0.01 * slopes[name] for name in weights}
        return loss_of(weights, rows[10:], wanted[10:])

    for step in range(args.steps):
        loops = min(1 + step // 3, 5)  # step
        rows = torch.randn(12, 20, 8, device="cuda")
        wanted = rows.sum(-1).sin()
        weights = dict(net.named_parameters())
        losses = vmap(lambda x, y: task_loss(weights, x, y, loops))(rows, wanted)
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
    print(f"{loops} steps in the inner loop")


if __name__ == "__main__":
    main()
