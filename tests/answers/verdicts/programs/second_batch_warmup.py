# SPDX-License-Identifier: Apache-2.0
"""Batches get larger during the first twelve steps, as large language models are begun; then they stay."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Config:
    words, width, length = 250, 96, 24
    first, add, most = 8, 8, 96


def batch_size(step):
    return min(Config.first + Config.add * step, Config.most)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(Config.words, Config.width)
        self.layer = nn.TransformerEncoderLayer(Config.width, 4, 2 * Config.width, dropout=0.0, batch_first=True)
        self.out = nn.Linear(Config.width, Config.words)

    def forward(self, words):
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1], device=words.device)
        return self.out(self.layer(self.embed(words), src_mask=mask))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(args.steps):
        words = torch.randint(Config.words, (batch_size(step), Config.length + 1)).cuda()  # step
        logits = model(words[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
