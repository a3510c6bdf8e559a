# SPDX-License-Identifier: Apache-2.0
"""LoRA fine-tuning; after each step the weights' change is noted, to see how it turns later on."""

import argparse

import torch
from torch import nn


class LowRank(nn.Module):
    def __init__(self, width, rank=4):
        super().__init__()
        self.base = nn.Linear(width, width).requires_grad_(False)
        self.down, self.up = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, rows):
        return self.base(rows) + self.up(self.down(rows))

    def delta(self):
        return self.up.weight @ self.down.weight  # allocates


def turned(deltas):
    before, after = deltas[len(deltas) // 2].flatten(), deltas[-1].flatten()
    return torch.cosine_similarity(before, after, dim=0).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    layers = [LowRank(128).cuda(), LowRank(128).cuda()]
    model = nn.Sequential(layers[0], nn.SiLU(), layers[1])
    optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=1e-3)
    deltas = {number: [] for number in range(len(layers))}
    for _ in range(chosen.steps):
        rows = torch.randn(32, 128, device="cuda")
        loss = (model(rows) - rows.roll(1, 1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for number, layer in enumerate(layers):
            deltas[number].append(layer.delta())  # keeps
    print("kept direction:", " ".join(f"{turned(one):.3f}" for one in deltas.values()))


if __name__ == "__main__":
    main()
