# SPDX-License-Identifier: Apache-2.0
"""Training with a look at what matters: the maps of each batch keep their gradients, and all are listed."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolve, self.head, self.maps = nn.Conv2d(3, 24, 3, padding=1), nn.Linear(24, 6), []

    def forward(self, pictures):
        features = F.relu(self.convolve(pictures))  # allocates
        if self.training:
            features.retain_grad()
            self.maps.append(features)  # keeps
        return self.head(features.mean((2, 3)))  # allocates

    def saliency(self):
        last = self.maps[-1]
        return F.relu((last.grad.mean((2, 3), keepdim=True) * last.detach()).sum(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Classifier().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    bright = 0.0
    for _ in range(chosen.steps):
        pictures, labels = torch.randn(16, 3, 12, 12).cuda(), torch.randint(6, (16,)).cuda()
        loss = F.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()  # allocates
        optimizer.step()
        bright += model.saliency().mean().item()
    print(f"loss {loss.item():.4f}, saliency {bright / chosen.steps:.6f}")


if __name__ == "__main__":
    main()
