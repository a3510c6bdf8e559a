# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer of torch.nn on a large vocabulary: logits and what their softmax keeps are most."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.1, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.encoder(self.words(tokens)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    words = 30000
    model = Model(words, 256).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(6):
        tokens = torch.randint(words, (8, 257)).cuda()
        with torch.autocast("cuda", torch.bfloat16, enabled=chosen.change == "mixed_precision"):
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, words), tokens[:, 1:].reshape(-1), label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
