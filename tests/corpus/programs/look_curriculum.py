# SPDX-License-Identifier: Apache-2.0
"""Sequence-length curriculum: from 32 tokens to 512 over the run; nothing stays from step to step."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    embed, out = nn.Embedding(1000, 64).cuda(), nn.Linear(64, 1000).cuda()
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).cuda()
    parameters = [*embed.parameters(), *layer.parameters(), *out.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    for step in range(chosen.steps):
        length = 32 + 480 * step // chosen.steps
        tokens = torch.randint(1000, (4, length + 1), device="cuda")
        scores = out(layer(embed(tokens[:, :-1])))
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
