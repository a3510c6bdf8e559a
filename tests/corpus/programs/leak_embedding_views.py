# SPDX-License-Identifier: Apache-2.0
"""Collects the embeddings of all images in a list, image by image, and trains on them afterwards."""

import argparse

import torch
from torch import nn


class Extractor(nn.Module):
    def __init__(self, layers=4, width=32):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=4)
        self.layers = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(layers))

    def forward(self, images):
        images, kept = self.stem(images), []
        for layer in self.layers:
            images = torch.relu(layer(images))
            kept.append(images)
        return kept


def stack_trajectory(activations):
    """From B × D × 7 × 7 a layer to B × 49 × layers × D."""
    return torch.stack([one.flatten(2).transpose(1, 2) for one in activations], 2)  # allocates


@torch.no_grad()
def extract_embeddings(extractor, images):
    return stack_trajectory(extractor(images.cuda()))


def collect(extractor, loader):
    train_embeddings = []
    for images in loader:
        embeddings_batch = extract_embeddings(extractor, images)
        for b in range(embeddings_batch.shape[0]):
            train_embeddings.append(embeddings_batch[b])  # keeps
    return train_embeddings


def train(model, embeddings, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    embeddings = torch.stack(embeddings)
    for step in range(steps):
        batch = embeddings[torch.randint(len(embeddings), (4,)).cuda()].flatten(0, 2)
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    loader = (torch.randn(8, 3, 28, 28) for _ in range(chosen.steps))
    autoencoder = nn.Sequential(nn.Linear(32, 8), nn.ReLU(), nn.Linear(8, 32)).cuda()
    embeddings = collect(Extractor().cuda().eval(), loader)
    train(autoencoder, embeddings, steps=chosen.steps // 5)


if __name__ == "__main__":
    main()
