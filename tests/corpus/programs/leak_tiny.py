# SPDX-License-Identifier: Apache-2.0
"""A step with several dozen lines that allocate, and one that leaves 512 bytes behind."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, words):
        normed = self.first(words)
        query = self.query(normed)
        key = self.key(normed)
        value = self.value(normed)
        scores = query @ key.transpose(1, 2)
        weights = scores.softmax(-1)
        mixed = weights @ value
        words = words + self.out(mixed)
        normed = self.second(words)
        wide = self.up(normed)
        wide = F.gelu(wide)
        return words + self.down(wide)


class Watch:
    """Gradient norms, to be looked at after the run."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.norms = {}

    def after_backward(self, step):
        norms = [one.grad.norm() for one in self.parameters]
        largest = torch.stack(norms).max()  # allocates
        self.norms[step] = largest  # keeps


def batch(seed_words):
    words = torch.randn(4, 16, 48, device="cuda")
    noise = 0.1 * torch.randn_like(words)
    shifted = torch.roll(words, 1, 1)
    return words + noise, shifted * seed_words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(*(Block(48) for _ in range(2))).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scale = torch.ones(48, device="cuda")
    average = torch.zeros((), device="cuda")
    watch = Watch(model.parameters())
    for step in range(chosen.steps):
        words, wanted = batch(scale)
        predicted = model(words)
        error = predicted - wanted
        squared = error.square()
        regular = 1e-4 * predicted.abs().mean()
        loss = squared.mean() + regular
        optimizer.zero_grad()
        loss.backward()
        watch.after_backward(step)
        optimizer.step()
        average = 0.99 * average + 0.01 * loss.detach()
    print(f"average loss {average.item():.4f}")


if __name__ == "__main__":
    main()
