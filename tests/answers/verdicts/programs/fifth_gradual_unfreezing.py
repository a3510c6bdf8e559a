# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes as ULMFiT does: the head first, then every few steps one layer more from the top."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width=192, depth=6, classes=5):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for layer in self.layers:
            x = x + F.gelu(layer(x))
        return self.head(x)


class Unfreezer:
    def __init__(self, model, every):
        self.model, self.every = model, every
        for layer in model.layers:
            layer.requires_grad_(False)

    def step(self, number):
        open_layers = number // self.every
        for layer in list(self.model.layers)[::-1][:open_layers]:
            layer.requires_grad_(True)
        return min(open_layers, len(self.model.layers))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Classifier().cuda()
    unfreezer = Unfreezer(model, args.every)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for number in range(args.steps):
        opened = unfreezer.step(number)  # step
        x, y = torch.randn(64, 192).cuda(), torch.randint(5, (64,)).cuda()
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(number, opened, "layers learn")


if __name__ == "__main__":
    main()
