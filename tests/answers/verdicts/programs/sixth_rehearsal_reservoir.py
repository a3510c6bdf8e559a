# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes on a stream of topics; a reservoir of earlier batches, drawn fairly from all, is rehearsed beside them."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class Reservoir:
    def __init__(self, size):
        self.size = size
        self.kept = []
        self.seen = 0

    def offer(self, batch):
        self.seen += 1
        if len(self.kept) < self.size:
            self.kept.append(batch)
            return
        place = random.randrange(self.seen)
        if place < self.size:
            self.kept[place] = batch

    def draw(self):
        return random.choice(self.kept)


class PooledEncoder(nn.Module):
    def __init__(self, vocabulary=1200, width=64, classes=30):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.encoder = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.classifier = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.classifier(self.encoder(self.embedding(tokens)).mean(1))


class TopicStream:
    """Topics follow each other; each has a part of the vocabulary."""

    def __init__(self, per_topic=15, batch=48, length=96):
        self.per_topic, self.shape = per_topic, (batch, length)
        self.count = 0

    def __next__(self):
        first = 40 * (self.count // self.per_topic % 30)
        self.count += 1
        tokens = torch.randint(first, first + 40, self.shape)
        return tokens.cuda(), torch.randint(0, 30, self.shape[:1]).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--reservoir", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    model = PooledEncoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    stream, reservoir = TopicStream(), Reservoir(args.reservoir)
    for _ in range(args.steps):
        tokens, labels = next(stream)  # step
        reservoir.offer((tokens, labels))
        loss = F.cross_entropy(model(tokens), labels)
        old_tokens, old_labels = reservoir.draw()
        loss = loss + 0.5 * F.cross_entropy(model(old_tokens), old_labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item(), "seen", reservoir.seen)


if __name__ == "__main__":
    main()
