# SPDX-License-Identifier: Apache-2.0
"""Few-shot training by episodes: each draws its own classes, and trains the encoder under a classifier for them."""

import argparse
import random

import torch
from torch import nn

WIDTH, WAYS, SHOTS, CLASSES = 48, 5, 4, 64


class Images:
    """Feature vectors that scatter around one centre for each class."""

    def __init__(self, size=72):
        self.centres = torch.randn(CLASSES, size)

    def episode(self, rng):
        classes = rng.sample(range(CLASSES), WAYS)
        labels = torch.arange(WAYS).repeat_interleave(SHOTS)
        x = self.centres[classes].repeat_interleave(SHOTS, 0)
        return (x + 0.3 * torch.randn_like(x)).cuda(), labels.cuda()


class EpisodicTrainer:
    def __init__(self, encoder, lr=1e-3):
        self.encoder = encoder
        self.head = None
        self.optimizer = torch.optim.Adam(encoder.parameters(), lr=lr)

    def begin(self):
        """A classifier for the classes of a new episode."""
        self.head = nn.Linear(WIDTH, WAYS, device="cuda")  # allocates
        self.optimizer.add_param_group({"params": list(self.head.parameters()), "lr": 0.02})  # keeps

    def fit(self, x, y, moves=3):
        for _ in range(moves):
            loss = nn.functional.cross_entropy(self.head(self.encoder(x)), y)
            loss.backward()
            self.optimizer.step()  # allocates
            self.optimizer.zero_grad()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    images = Images()
    encoder = nn.Sequential(nn.Linear(72, 96), nn.LayerNorm(96), nn.ReLU(), nn.Linear(96, WIDTH)).cuda()
    trainer = EpisodicTrainer(encoder)
    losses = []
    for _ in range(chosen.steps):
        x, y = images.episode(rng)  # step
        trainer.begin()
        losses.append(trainer.fit(x, y))
    print(f"first {losses[0]:.4f}, last {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
