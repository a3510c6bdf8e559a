# SPDX-License-Identifier: Apache-2.0
"""Every step has another number of sequences of other lengths."""

import argparse
import random

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    embed = nn.Embedding(3000, 96).cuda()
    layer = nn.TransformerEncoderLayer(96, 4, 192, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
    out = nn.Linear(96, 3000).cuda()
    parameters = [*embed.parameters(), *encoder.parameters(), *out.parameters()]
    optimizer = torch.optim.Adafactor(parameters, lr=1e-3)
    for step in range(chosen.steps):
        batch, length = rng.randrange(1, 17), int(rng.lognormvariate(4, 0.5)) + 2
        tokens = torch.randint(3000, (batch, length)).cuda()
        mask = torch.rand(batch, length).cuda() < 0.15
        scores = out(encoder(embed(tokens.masked_fill(mask, 0))))
        losses = nn.functional.cross_entropy(scores.flatten(0, 1), tokens.flatten(), reduction="none")
        loss = (losses * mask.flatten()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
