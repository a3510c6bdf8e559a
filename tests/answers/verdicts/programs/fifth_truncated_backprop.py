# SPDX-License-Identifier: Apache-2.0
"""A recurrent language model, trained with backpropagation through nine batches at a time."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Cell(nn.Module):
    def __init__(self, vocabulary=200, width=192):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.gate, self.candidate = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, token, hidden):
        joined = torch.cat([self.embed(token), hidden], 1)  # fills
        gate = torch.sigmoid(self.gate(joined))  # fills
        hidden = hidden + gate * (torch.tanh(self.candidate(joined)) - hidden)  # fills
        return self.head(hidden), hidden


class TruncatedTrainer:
    def __init__(self, model, window):
        self.model, self.window = model, window
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
        self.hidden = torch.zeros(64, 192, device="cuda")
        self.loss, self.since = 0.0, 0

    def step(self, token, following):
        logits, self.hidden = self.model(token, self.hidden)
        self.loss = self.loss + F.cross_entropy(logits, following)  # fills
        self.since += 1
        if self.since == self.window:
            self.optimizer.zero_grad()
            self.loss.backward()
            self.optimizer.step()
            self.hidden = self.hidden.detach()
            self.loss, self.since = 0.0, 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--window", type=int, default=9)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = TruncatedTrainer(Cell().cuda(), args.window)
    token = torch.randint(200, (64,)).cuda()
    for _ in range(args.steps):
        following = torch.randint(200, (64,)).cuda()  # step
        trainer.step(token, following)
        token = following


if __name__ == "__main__":
    main()
