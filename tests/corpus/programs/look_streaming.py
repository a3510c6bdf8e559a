# SPDX-License-Identifier: Apache-2.0
"""Trains on each batch of embeddings at once, then deletes it and empties the cache."""

import argparse

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, layers=8, width=64, hidden=64):
        super().__init__()
        self.inward, self.outward = nn.Linear(layers * width, hidden), nn.Linear(hidden, layers * width)

    def forward(self, trajectories):
        return self.outward(torch.relu(self.inward(trajectories.flatten(1)))).view_as(trajectories)


def extract_embeddings(extractor, pictures):
    """All layers' activations at each of the places of a picture: (places, layers, width)."""
    seen, activations = extractor[0](pictures), []
    for layer in extractor[1:]:
        seen = torch.relu(layer(seen))
        activations.append(seen.flatten(2).transpose(1, 2))
    return torch.stack(activations, 2).flatten(0, 1)


def train_streaming(model, extractor, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    total_loss = 0.0
    for _ in range(steps):
        imgs_gpu = torch.randn(16, 3, 28, 28).cuda()
        with torch.no_grad():
            embeddings_batch = extract_embeddings(extractor, imgs_gpu)
        loss = nn.functional.mse_loss(model(embeddings_batch), embeddings_batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
        del imgs_gpu, embeddings_batch, loss
        torch.cuda.empty_cache()
    return total_loss / steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    layers = [nn.Conv2d(3, 64, 4, stride=4), *(nn.Conv2d(64, 64, 1) for _ in range(8))]
    extractor = nn.ModuleList(layers).cuda().eval()
    print(train_streaming(Autoencoder().cuda(), extractor, chosen.steps))


if __name__ == "__main__":
    main()
