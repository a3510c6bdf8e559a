# SPDX-License-Identifier: Apache-2.0
"""Novelty of pictures: the distance to the features of the last nine batches, a list that is cut at each step."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Novelty:
    def __init__(self, window=9):
        self.window, self.recent = window, []

    def __call__(self, features):
        known = torch.cat(self.recent) if self.recent else features
        nearest = torch.cdist(features, known).amin(1).mean().item()
        self.recent = [*self.recent, features][-self.window:]
        return nearest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    encoder = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(392, 144)).cuda()
    decoder = nn.Linear(144, 256).cuda()
    optimizer = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
    novelty, found = Novelty(), 0.0
    for _ in range(chosen.steps):
        pictures = torch.rand(128, 1, 16, 16).cuda()
        features = encoder(pictures)
        loss = F.mse_loss(decoder(features), pictures.flatten(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found = novelty(features.detach())
    print(f"loss {loss.item():.4f}, novelty {found:.3f}")


if __name__ == "__main__":
    main()
