# SPDX-License-Identifier: Apache-2.0
"""Adam with moments for blocks of 4096 numbers each, so that each block has a scale of its own."""

import argparse

import torch
from torch import nn


class BlockwiseAdam(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.99), block=4096):
        super().__init__(parameters, {"lr": lr, "betas": betas, "block": block})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                values = parameter.view(-1).split(group["block"])
                slopes = parameter.grad.reshape(-1).split(group["block"])
                for block, slope in zip(values, slopes):
                    self.move(block, slope, group)

    def move(self, block, slope, group):
        state = self.state[block]  # keeps
        if not state:
            state["first"] = torch.zeros_like(block)  # allocates
            state["second"] = torch.zeros_like(block)  # allocates
        fast, slow = group["betas"]
        state["first"].lerp_(slope, 1 - fast)
        state["second"].mul_(slow).addcmul_(slope, slope, value=1 - slow)
        scale = state["second"].mean().sqrt().add_(1e-8)
        block.sub_(group["lr"] * state["first"] / scale)


def batches(steps, size):
    for _ in range(steps):
        rows = torch.randn(size, 128, device="cuda")  # step
        yield rows, rows.view(size, 16, 8).sum(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 16)).cuda()
    optimizer = BlockwiseAdam(model.parameters())
    total = 0.0
    for rows, sums in batches(chosen.steps, 32):
        loss = nn.functional.mse_loss(model(rows), sums)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"mean loss {total / chosen.steps:.4f}")


if __name__ == "__main__":
    main()
