# SPDX-License-Identifier: Apache-2.0
"""Learns to recognise products: each batch is also compared with the embeddings of the batches before it."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class CrossBatchMemory:
    def __init__(self, batches):
        self.batches = batches
        self.embeddings, self.labels = [], []

    def enqueue(self, embeddings, labels):
        self.embeddings.append(embeddings.detach())
        self.labels.append(labels)
        if len(self.embeddings) > self.batches:
            self.embeddings.pop(0)
            self.labels.pop(0)

    def get(self):
        return torch.cat(self.embeddings), torch.cat(self.labels)


class Embedding(nn.Module):
    def __init__(self, size=512):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU())
        self.head = nn.Linear(32, size)

    def forward(self, images):
        return F.normalize(self.head(self.body(images).mean((2, 3))), dim=1)


def contrastive(embeddings, labels, others, their_labels, margin=0.5):
    similarity = embeddings @ others.T
    same = (labels[:, None] == their_labels[None]).float()
    return (same * (1 - similarity) + (1 - same) * F.relu(similarity - margin)).sum(1).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--memory-batches", type=int, default=32)
    parser.add_argument("--warm-up", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, memory = Embedding().cuda(), CrossBatchMemory(args.memory_batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for step in range(args.steps):
        images = torch.rand(32, 3, 48, 48, device="cuda")  # step
        labels = torch.randint(0, 100, (32,)).cuda()
        embeddings = model(images)
        loss = contrastive(embeddings, labels, embeddings, labels)
        if step >= args.warm_up:
            memory.enqueue(embeddings, labels)
            loss = loss + contrastive(embeddings, labels, *memory.get())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
