# SPDX-License-Identifier: Apache-2.0
"""Contrastive learning over more pairs than fit in one forward: embeddings of eight parts, then one loss."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Tower(nn.Module):
    def __init__(self, inputs, width=128):
        super().__init__()
        self.up, self.down = nn.Linear(inputs, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        wide = F.gelu(self.up(x))  # fills
        return F.normalize(self.down(wide), dim=1)  # fills


class ClipTrainer:
    def __init__(self, parts):
        self.parts = parts
        self.image, self.text = Tower(192).cuda(), Tower(96).cuda()
        self.optimizer = torch.optim.AdamW([*self.image.parameters(), *self.text.parameters()], lr=1e-4)
        self.images, self.texts = [], []

    def micro_step(self, images, texts):
        self.images.append(self.image(images))
        self.texts.append(self.text(texts))
        if len(self.images) == self.parts:
            self.step()

    def step(self):
        scores = torch.cat(self.images) @ torch.cat(self.texts).T / 0.07
        wanted = torch.arange(len(scores), device="cuda")
        loss = F.cross_entropy(scores, wanted) + F.cross_entropy(scores.T, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.images.clear()
        self.texts.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = ClipTrainer(args.parts)
    for _ in range(args.steps):
        images, texts = torch.randn(32, 192).cuda(), torch.randn(32, 96).cuda()  # step
        trainer.micro_step(images, texts)


if __name__ == "__main__":
    main()
