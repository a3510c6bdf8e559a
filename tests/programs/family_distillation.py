# SPDX-License-Identifier: Apache-2.0
"""Trains a student on a teacher's probabilities; attention stores its scores, with dropout on them."""

import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, hidden, mask):
        batch, length, width = hidden.shape
        query, key, value = (part(hidden).view(batch, length, self.heads, -1).transpose(1, 2)
                             for part in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(width // self.heads)
        probabilities = self.drop(nn.functional.softmax(scores + mask, dim=-1))
        mixed = torch.matmul(probabilities, value).transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed)


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, hidden, mask):
        hidden = self.first(hidden + self.attention(hidden, mask))
        return self.second(hidden + self.outer(F.gelu(self.inner(hidden))))


class Model(nn.Module):
    def __init__(self, layers, words=8000, width=256):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width, 8) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens, mask):
        hidden = self.words(tokens)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return self.head(hidden)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    teacher, student = Model(4).cuda().eval(), Model(3).cuda()
    teacher.requires_grad_(False)
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-4)
    for _ in range(6):
        tokens = torch.randint(8000, (4, 384)).cuda()
        mask = torch.zeros(4, 1, 1, 384).cuda()
        with torch.autocast("cuda", torch.bfloat16, enabled=chosen.change == "mixed_precision"):
            with torch.no_grad():
                wanted = F.softmax(teacher(tokens, mask) / 2, dim=-1)
            said = F.log_softmax(student(tokens, mask) / 2, dim=-1)
            loss = F.kl_div(said, wanted, reduction="batchmean")
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
