# SPDX-License-Identifier: Apache-2.0
"""A two-layer LSTM that tags sequences, trained with Adam on sequences of different lengths."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(500, 64)
        self.lstm = nn.LSTM(64, 96, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)
        self.tags = nn.Linear(192, 20)

    def forward(self, words):
        hidden, _ = self.lstm(self.words(words))
        return self.tags(hidden)


def main():
    chosen = options(steps=6)
    model = Tagger().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    sentences = (
        (torch.randint(500, (16, length)), torch.randint(20, (16, length)))
        for length in (10 + 7 * (step % 3) for step in range(chosen.steps))
    )
    history = []
    for words, tags in on_device(sentences, chosen.streams):
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
    print(f"lstm: {len(history)} losses, peak {peak()} bytes")


if __name__ == "__main__":
    main()
