# SPDX-License-Identifier: Apache-2.0
"""A two-layer bidirectional LSTM that tags sequences of different lengths; losses are collected."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5000, 256, padding_idx=0)
        self.lstm = nn.LSTM(256, 256, num_layers=2, batch_first=True, bidirectional=True, dropout=0.2)
        self.tags = nn.Linear(512, 40)

    def forward(self, words):
        return self.tags(self.lstm(self.words(words))[0])


def main():
    chosen = options(steps=6)
    model = Tagger().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    lengths = (60 + 20 * (step % 3) for step in range(chosen.steps))
    sentences = (
        (torch.randint(1, 5000, (32, length)), torch.randint(40, (32, length))) for length in lengths
    )
    history = []
    for words, tags in on_device(sentences, chosen.streams):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), tags.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        history.append(loss.detach())
    print(f"lstm: {len(history)} losses, peak {peak()} bytes")


if __name__ == "__main__":
    main()
