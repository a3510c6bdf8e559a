# SPDX-License-Identifier: Apache-2.0
"""Trains a small densely connected network, whose first layers are to be frozen once their outputs are known."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Bottleneck(nn.Module):
    out_saved = [0] * 900

    def __init__(self, channels, growth, layer_index, freeze_below):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(channels), nn.Conv2d(channels, 4 * growth, 1, bias=False)
        self.bn2, self.conv2 = nn.BatchNorm2d(4 * growth), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)
        self.layer_index, self.freeze_below = layer_index, freeze_below
        self.active = True
        self.counter = 0

    def advance(self):
        self.counter += 1
        if self.counter >= len(Bottleneck.out_saved):
            self.counter = 0

    def forward(self, x):
        if not self.active:
            out = Bottleneck.out_saved[self.counter].detach()
            self.advance()
            return out
        out = self.conv1(F.relu(self.bn1(x)))
        out = self.conv2(F.relu(self.bn2(out)))
        out = torch.cat((x, out), 1)  # allocates
        if self.layer_index < self.freeze_below:
            Bottleneck.out_saved[self.counter] = out  # keeps
            self.advance()
        return out


class DenseNet(nn.Module):
    def __init__(self, growth=8, layers=3, freeze_below=2):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.layers = nn.Sequential(*[Bottleneck(16 + growth * index, growth, index, freeze_below)
                                      for index in range(layers)])
        self.head = nn.Linear(16 + growth * layers, 10)

    def forward(self, images):
        return self.head(self.layers(self.stem(images)).mean((2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    network = DenseNet().cuda()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for step in range(chosen.steps):
        images = torch.randn(8, 3, 16, 16, device="cuda")  # step
        labels = torch.randint(0, 10, (8,), device="cuda")
        optimizer.zero_grad()
        loss = F.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            print(f"batch {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
