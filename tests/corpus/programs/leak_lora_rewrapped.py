# SPDX-License-Identifier: Apache-2.0
"""Adapts one model to one domain after the other; each time LoRA wraps the layers that are there,
the earlier domains' LoRA included."""

import argparse

import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base, width, rank):
        super().__init__()
        self.base = base.requires_grad_(False)  # keeps
        self.down = nn.Linear(width, rank, bias=False)
        self.up = nn.Linear(rank, width, bias=False)

    def forward(self, rows):
        return self.base(rows) + self.up(self.down(rows))  # allocates


def apply_lora_to_model(model, width, rank):
    for index, layer in enumerate(model):
        if isinstance(layer, (nn.Linear, LoRA)):
            model[index] = LoRA(layer, width, rank).cuda()  # allocates
    return [one for one in model.parameters() if one.requires_grad]


def adapt_with_lora_streaming(model, batches, width, rank):
    optimizer = torch.optim.Adam(apply_lora_to_model(model, width, rank), lr=1e-3)
    for rows in batches:
        rows = rows.cuda(non_blocking=True)
        optimizer.zero_grad()
        (model(rows) - rows).square().mean().backward()
        optimizer.step()
        del rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--domain", type=int, default=10, help="batches of one")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    width = 256
    model = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)).cuda()
    for domain in range(chosen.steps // chosen.domain):
        batches = (torch.randn(16, width) for _ in range(chosen.domain))
        adapt_with_lora_streaming(model, batches, width, rank=8)
        print(f"domain {domain} adapted")


if __name__ == "__main__":
    main()
