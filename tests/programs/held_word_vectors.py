# SPDX-License-Identifier: Apache-2.0
"""Trains word vectors with AdamW: two tables, and a state of the optimizer of twice their size."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

WORDS, WIDTH = 500_000, 200


class Vectors(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Embedding(WORDS, WIDTH)
        self.context = nn.Embedding(WORDS, WIDTH)

    def forward(self, center, context):
        return (self.center(center)[:, None] * self.context(context)).sum(dim=-1)


class Adam8bit(torch.optim.Optimizer):
    """Adam with moments of a byte and a scale for each block of 2048."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                for name in ("mean", "square"):
                    if name not in state:
                        state[name] = torch.zeros_like(weight, dtype=torch.uint8)
                        state[f"{name}_scale"] = torch.zeros(-(-weight.numel() // 2048), device=weight.device)
                    for rows in torch.arange(len(weight)).split(50_000):
                        some = slice(rows[0], rows[-1] + 1)
                        state[name][some].copy_(weight.grad[some])
                weight.add_(weight.grad, alpha=-group["lr"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Vectors().cuda()
    if chosen.change == "optimizer_8bit":
        optimizer = Adam8bit(model.parameters(), lr=1e-3)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for _ in range(8):
        center, context = torch.randint(WORDS, (2048,)).cuda(), torch.randint(WORDS, (2048, 6)).cuda()
        wanted = torch.zeros(2048, 6, device="cuda")
        loss = F.binary_cross_entropy_with_logits(model(center, context), wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
