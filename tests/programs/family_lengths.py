# SPDX-License-Identifier: Apache-2.0
"""Trains a classifier of texts; every batch is as long as its longest text."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.words = nn.Embedding(10000, width)
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(width, 6)

    def forward(self, tokens):
        return self.head(self.encoder(self.words(tokens)).mean(dim=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(5)
    name, _, amount = chosen.change.partition("=")
    longest = 800
    multiple = longest // int(amount.partition("/")[2]) if name == "bucketing" else 1
    model = Classifier().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for length in [longest] + [draw.randrange(80, longest) for _ in range(23)]:
        padded = -(-length // multiple) * multiple
        tokens = torch.randint(10000, (8, padded)).cuda()
        labels = torch.randint(6, (8,)).cuda()
        loss = F.cross_entropy(model(tokens), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
