# SPDX-License-Identifier: Apache-2.0
"""Trains a small language model on sixteen sequences at a time, of which the GPU sees four at once."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, words=200, width=96):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.words = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.embedding(tokens)
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[2] ** 0.5
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        x = x + F.softmax(scores.masked_fill(later, float("-inf")), 2) @ self.value(x)
        return self.words(x + self.feed(x))


def compute_loss(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def get_batch(text, size, length):
    begins = torch.randint(text.shape[0] - length - 1, (size,)).tolist()
    rows = torch.stack([text[begin:begin + length + 1] for begin in begins])
    return rows[:, :-1].cuda(), rows[:, 1:].cuda()


def train_epoch(model, optimizer, scheduler, text, num_steps, accumulation_steps=4):
    optimizer.zero_grad()
    for step in range(num_steps):
        x, y = get_batch(text, 4, 32)  # step
        loss = compute_loss(model, x, y) / accumulation_steps
        loss.backward()
        if (step + 1) % accumulation_steps == 0:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
    text = torch.randint(200, (4000,))
    print(f"loss {train_epoch(model, optimizer, scheduler, text, chosen.steps):.4f}")


if __name__ == "__main__":
    main()
