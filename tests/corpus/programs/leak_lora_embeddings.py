# SPDX-License-Identifier: Apache-2.0
"""A model is trained batch by batch, then adapted with LoRA to a domain whose embeddings are all
collected first."""

import argparse

import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, rows):
        return self.base(rows) + self.up(self.down(rows))


def extract_and_stack(extractor, images):
    with torch.no_grad():
        layers = []
        for layer in extractor:
            images = torch.relu(layer(images))
            layers.append(images)
        return torch.stack(layers, 1)  # allocates


def train_on(model, optimizer, rows):
    optimizer.zero_grad()
    (model(rows) - rows).square().mean().backward()
    optimizer.step()


def collect(extractor, loader):
    domain_embeddings = []
    for images in loader:
        embeddings = extract_and_stack(extractor, images.cuda())
        domain_embeddings.append(embeddings)  # keeps
    return domain_embeddings


def adapt_with_lora(model, embeddings, epochs):
    for index, layer in enumerate(model):
        if isinstance(layer, nn.Linear):
            model[index] = LoRA(layer).cuda()
    adapted = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.Adam(adapted, lr=1e-3)
    for _ in range(epochs):
        for batch in embeddings:
            train_on(model, optimizer, batch)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    extractor = nn.ModuleList(nn.Linear(128, 128) for _ in range(4)).cuda()
    model = nn.Sequential(nn.Linear(128, 16), nn.ReLU(), nn.Linear(16, 128)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(chosen.steps):
        train_on(model, optimizer, extract_and_stack(extractor, torch.randn(32, 128).cuda()))
    domain = (torch.randn(32, 128) for _ in range(chosen.steps))
    adapt_with_lora(model, collect(extractor, domain), epochs=1)


if __name__ == "__main__":
    main()
