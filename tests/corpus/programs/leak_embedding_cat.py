# SPDX-License-Identifier: Apache-2.0
"""First all embeddings are collected, then a model is trained on them: the whole data set is on the
GPU, twice while it is concatenated."""

import argparse

import torch
from torch import nn


class ModelTrainer:
    def __init__(self, model):
        self.model = model
        self.embeddings = []

    @torch.no_grad()
    def collect(self, extractor, loader):
        for images in loader:
            features = extractor(images.cuda(non_blocking=True))  # allocates
            self.embeddings.append(features)  # keeps

    def train(self, epochs=2, batch=64):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        data = torch.cat(self.embeddings)
        for _ in range(epochs):
            for begin in range(0, len(data), batch):
                rows = data[begin:begin + batch]
                optimizer.zero_grad()
                (self.model(rows) - rows).square().mean().backward()
                optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    extractor = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten()).cuda().eval()
    loader = (torch.randn(16, 3, 32, 32) for _ in range(chosen.steps))
    trainer = ModelTrainer(nn.Sequential(nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 512)).cuda())
    trainer.collect(extractor, loader)
    trainer.train()


if __name__ == "__main__":
    main()
