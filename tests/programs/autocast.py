# SPDX-License-Identifier: Apache-2.0
"""Layers of torch.nn in bfloat16 autocast, with dropout."""

import torch
from torch import nn
from torch.nn import functional as F

from compiling import DEVICE, compiled, finish, options, steps


class Tagger(nn.Module):
    def __init__(self, words=512, width=192, layers=3):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.1, batch_first=True, norm_first=True)
            for _ in range(layers))
        self.head = nn.Linear(width, 32)

    def forward(self, words):
        x = self.words(words)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    chosen = options(steps=4)
    model = Tagger().to(DEVICE)
    network = compiled(chosen, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = ((torch.randint(512, (16, 128)), torch.randint(32, (16, 128))) for _ in range(chosen.steps))
    for words, tags in steps(texts):
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = F.cross_entropy(network(words).flatten(0, 1), tags.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
