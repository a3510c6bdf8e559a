# SPDX-License-Identifier: Apache-2.0
"""A compiled model; it compiles once more when the batch changes."""

import argparse

import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, tokens=32, width=64):
        super().__init__()
        self.across, self.within = nn.Linear(tokens, tokens), nn.Linear(width, width)
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, features):
        features = features + self.across(features.transpose(1, 2)).transpose(1, 2)
        features = features + torch.nn.functional.gelu(self.within(self.norm(features)))
        return self.out(features.mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Mixer().cuda()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(chosen.steps):
        batch = 64 if step < chosen.steps // 2 else 48
        features = torch.randn(batch, 32, 64, device="cuda")
        labels = torch.randint(10, (batch,), device="cuda")
        loss = nn.functional.cross_entropy(compiled(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
