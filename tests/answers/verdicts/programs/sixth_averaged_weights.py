# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a classifier; after a warm-up the mean of its last weights, one copy every five steps, is evaluated."""

import argparse
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class LatestWeightAverage:
    def __init__(self, model, every=5, last=6, start=10):
        self.model = model
        self.every, self.start = every, start
        self.copies = deque(maxlen=last)

    def update(self, step):
        if step >= self.start and step % self.every == 0:
            self.copies.append({name: p.detach().clone() for name, p in self.model.named_parameters()})

    def average(self):
        return {name: torch.stack([copy[name] for copy in self.copies]).mean(0) for name in self.copies[0]}


class TextClassifier(nn.Module):
    def __init__(self, vocabulary=500, width=64, classes=20):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, width)
        self.layers = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, classes))

    def forward(self, tokens):
        return self.layers(self.embedding(tokens))


@torch.no_grad()
def accuracy(model, weights, batches):
    right = [(functional_call(model, weights, (tokens.cuda(),)).argmax(1).cpu() == labels).float().mean()
             for tokens, labels in batches]
    return torch.stack(right).mean().item()


def batch(size=32):
    return torch.randint(0, 500, (size, 60)), torch.randint(0, 20, (size,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    held_out = [batch() for _ in range(3)]
    model = TextClassifier().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    averaged = LatestWeightAverage(model)
    for step in range(args.steps):
        tokens, labels = batch()  # step
        loss = F.cross_entropy(model(tokens.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        averaged.update(step)
        if step % 20 == 19:
            print(step, "accuracy", accuracy(model, averaged.average(), held_out))


if __name__ == "__main__":
    main()
