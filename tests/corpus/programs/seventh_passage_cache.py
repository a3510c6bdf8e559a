# SPDX-License-Identifier: Apache-2.0
"""Trains a question encoder against the passages of its batch and those of the few batches before it."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.nn import functional

WIDTH = 64


def encoder():
    return nn.Sequential(nn.Linear(80, 128), nn.GELU(), nn.Linear(128, WIDTH))


class RecentPassages:
    def __init__(self, capacity):
        self.capacity = capacity
        self.order = deque(maxlen=capacity)
        self.vectors = {}

    def add(self, batch, vectors):
        self.vectors[batch] = vectors  # keeps
        self.order.append(batch)
        if len(self.order) > self.capacity:
            del self.vectors[self.order.popleft()]

    def negatives(self):
        return torch.cat([self.vectors[batch] for batch in self.order])


class Retriever:
    def __init__(self, capacity=6, temperature=0.05):
        self.questions = encoder().cuda()
        self.passages = encoder().cuda().requires_grad_(False)
        self.recent = RecentPassages(capacity)
        self.temperature = temperature
        self.optimizer = torch.optim.AdamW(self.questions.parameters(), lr=1e-3)

    def train_on(self, number, questions, passages):
        found = functional.normalize(self.passages(passages), dim=-1)  # allocates
        asked = functional.normalize(self.questions(questions), dim=-1)
        candidates = found
        if self.recent.order:
            candidates = torch.cat([found, self.recent.negatives()])
        scores = asked @ candidates.T / self.temperature
        loss = functional.cross_entropy(scores, torch.arange(len(asked), device="cuda"))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.recent.add(number, found)


def batches(steps, size=32):
    for number in range(steps):
        yield number, torch.randn(size, 80), torch.randn(size, 80)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    retriever = Retriever()
    for number, questions, passages in batches(chosen.steps):
        questions = questions.cuda()  # step
        retriever.train_on(number, questions, passages.cuda())
    print("batches in use as negatives:", len(retriever.recent.order))


if __name__ == "__main__":
    main()
