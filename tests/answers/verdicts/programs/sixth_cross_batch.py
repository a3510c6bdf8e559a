# SPDX-License-Identifier: Apache-2.0
"""Metric learning with a cross-batch memory: the embeddings of the last batches are compared with the present one's."""

import argparse
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class CrossBatchMemory:
    def __init__(self, batches):
        self.embeddings = deque(maxlen=batches)
        self.labels = deque(maxlen=batches)

    def enqueue(self, embeddings, labels):
        self.embeddings.append(embeddings.detach())
        self.labels.append(labels)

    def all(self):
        return torch.cat(list(self.embeddings)), torch.cat(list(self.labels))


def contrastive(queries, labels, keys, key_labels, margin=0.5):
    similarity = queries @ keys.t()
    same = labels.unsqueeze(1) == key_labels.unsqueeze(0)
    pull = torch.where(same, 1 - similarity, 0.0).sum(1)
    push = torch.where(same, 0.0, F.relu(similarity - margin)).sum(1)
    return (pull + push).mean()


class Embedder(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU(),
                                   nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(256, width)

    def forward(self, images):
        return F.normalize(self.head(self.trunk(images)), dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--memory-batches", type=int, default=24)
    parser.add_argument("--memory-from", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Embedder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    memory = CrossBatchMemory(args.memory_batches)
    for step in range(args.steps):
        images, labels = torch.randn(96, 3, 20, 20).cuda(), torch.randint(0, 50, (96,)).cuda()  # step
        embeddings = model(images)
        loss = contrastive(embeddings, labels, embeddings, labels)
        if step >= args.memory_from:
            memory.enqueue(embeddings, labels)
            loss = loss + contrastive(embeddings, labels, *memory.all())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
