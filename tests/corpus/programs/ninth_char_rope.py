# SPDX-License-Identifier: Apache-2.0
"""Trains a character model with rotary positions; the sequences become longer while it warms up."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

CHARACTERS, WIDTH, HEADS, BATCH = 96, 256, 4, 4


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, max_seq_len, base=10000):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2).float() / dim))
        self.max_seq_len = max_seq_len
        self.build_cache(max_seq_len)

    def build_cache(self, seq_len):
        angles = torch.outer(torch.arange(seq_len, device=self.inv_freq.device).float(), self.inv_freq)
        angles = torch.cat((angles, angles), -1)
        self.register_buffer("cos_cached", angles.cos(), persistent=False)
        self.register_buffer("sin_cached", angles.sin(), persistent=False)

    def forward(self, seq_len):
        if seq_len > self.max_seq_len:
            self.build_cache(seq_len)
        return self.cos_cached[:seq_len], self.sin_cached[:seq_len]


def rotate(part, cos, sin):
    first, second = part.chunk(2, -1)
    return part * cos + torch.cat((-second, first), -1) * sin


class Block(nn.Module):
    def __init__(self, max_seq_len):
        super().__init__()
        self.rope = RotaryEmbedding(WIDTH // HEADS, max_seq_len)
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden):
        batch, length, _ = hidden.shape
        queries, keys, values = (part.reshape(batch, length, HEADS, -1).transpose(1, 2)
                                 for part in self.mixed(hidden).chunk(3, -1))
        cos, sin = self.rope(length)
        scores = rotate(queries, cos, sin) @ rotate(keys, cos, sin).transpose(2, 3) / (WIDTH // HEADS) ** 0.5
        mixed = torch.softmax(scores, -1) @ values
        return hidden + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class CharacterModel(nn.Module):
    def __init__(self, max_seq_len):
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, WIDTH)
        self.blocks = nn.Sequential(Block(max_seq_len), Block(max_seq_len))
        self.head = nn.Linear(WIDTH, CHARACTERS)

    def forward(self, text):
        return self.head(self.blocks(self.embedding(text)))


def learn(model, optimizer, length):
    text = torch.randint(CHARACTERS, (BATCH, length + 1)).cuda()
    loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=int, default=144)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = CharacterModel(max_seq_len=32).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step in range(chosen.steps):
        length = min(32 + 8 * (step // 4), chosen.longest)  # step
        loss = learn(model, optimizer, length)
        if step % 8 == 0:
            print(f"{step}: {length} characters, loss {loss:.4f}")


if __name__ == "__main__":
    main()
