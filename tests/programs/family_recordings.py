# SPDX-License-Identifier: Apache-2.0
"""Trains a recogniser of recordings of any duration: convolutions over time, then attention that stores its
scores; after each eighth batch some recordings are transcribed."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.project, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, hidden):
        batch, length, width = hidden.shape
        query, key, value = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                             for part in self.project(hidden).chunk(3, dim=-1))
        scores = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5
        mixed = scores.softmax(dim=-1) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Recogniser(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.begin = nn.Sequential(nn.Conv1d(80, width, 5, padding=2), nn.GELU(),
                                   nn.Conv1d(width, width, 5, stride=2, padding=2), nn.GELU())
        self.attention = nn.ModuleList(Attention(width, 4) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.head = nn.Linear(width, 200)

    def forward(self, features):
        hidden = self.begin(features).transpose(1, 2)
        for attention, norm in zip(self.attention, self.norms):
            hidden = hidden + attention(norm(hidden))
        return self.head(hidden)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(9)
    name, _, amount = chosen.change.partition("=")
    longest = 1600
    multiple = longest // int(amount.partition("/")[2]) if name == "bucketing" else 1
    model = Recogniser().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    durations = [longest] + [draw.randrange(300, longest) for _ in range(31)]
    for step, duration in enumerate(durations):
        padded = -(-duration // multiple) * multiple
        features = torch.rand(6, 80, padded).cuda()
        logits = model(features)
        labels = torch.randint(200, logits.shape[:2]).cuda()
        loss = F.cross_entropy(logits.transpose(1, 2), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 8 == 7:
            with torch.no_grad():
                print(model(features).argmax(dim=-1).shape)
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
