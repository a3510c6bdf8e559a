# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation: several small batches for one step of the optimizer."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--micro", type=int, default=4)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    layer = nn.TransformerEncoderLayer(96, 4, 256, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    total = 0.0
    for step in range(chosen.steps):
        for _ in range(chosen.micro):
            words = torch.randn(4, 48, 96, device="cuda")
            loss = model(words).square().mean() / chosen.micro
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    print(f"mean loss {total / chosen.steps:.4f}")


if __name__ == "__main__":
    main()
