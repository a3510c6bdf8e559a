# SPDX-License-Identifier: Apache-2.0
"""Metric learning with a contrastive loss against the embeddings of recent batches."""

import argparse

import torch
from torch import nn
from torch.nn import functional


class Bank:
    """The embeddings and labels of the last `size` examples."""

    def __init__(self, size, width):
        self.size = size
        self.features = torch.zeros(0, width, device="cuda")
        self.labels = torch.zeros(0, dtype=torch.long, device="cuda")

    def __len__(self):
        return self.features.shape[0]

    @torch.no_grad()
    def push(self, features, labels):
        features = torch.cat([self.features, features])  # allocates
        labels = torch.cat([self.labels, labels])  # allocates
        self.features = features[:, -self.size:]  # keeps
        self.labels = labels[-len(features):]  # keeps


def contrastive(features, labels, bank, margin=0.4):
    keys = torch.cat([features, bank.features])
    same = labels[:, None] == torch.cat([labels, bank.labels])[None]
    similarity = features @ keys.T
    pull = torch.where(same, 1 - similarity, torch.zeros_like(similarity))
    push = torch.where(same, torch.zeros_like(similarity), (similarity - margin).relu())
    return (pull + push).sum(1).mean()


def train_batch(model, optimizer, bank, images, labels):
    features = functional.normalize(model(images))
    loss = contrastive(features, labels, bank)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bank.push(features, labels)
    return loss.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bank", type=int, default=256)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 12 * 12, 192), nn.ReLU(), nn.Linear(192, 128)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    bank = Bank(chosen.bank, width=128)
    for _ in range(chosen.steps):
        images = torch.randn(32, 3, 12, 12, device="cuda")  # step
        labels = torch.randint(20, (32,), device="cuda")
        loss = train_batch(model, optimizer, bank, images, labels)
    print(f"loss {loss.item():.4f}, against {len(bank)} embeddings")


if __name__ == "__main__":
    main()
