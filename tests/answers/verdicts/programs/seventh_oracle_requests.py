# SPDX-License-Identifier: Apache-2.0
"""Active learning on a stream: the least certain samples go to annotators, whose answers come some steps later."""

import argparse
import itertools
import random
from collections import deque

import torch
from torch import nn

FEATURES, CLASSES = 128, 6


class LabelDesk:
    """Requests to annotators; an answer takes `delay` steps."""

    def __init__(self, delay, rng):
        self.delay, self.rng = delay, rng
        self.numbers = itertools.count()
        self.waiting = deque()
        self.samples = {}

    def ask(self, step, samples):
        number = next(self.numbers)
        self.samples[number] = samples  # keeps
        self.waiting.append((step + self.delay, number))

    def answers(self, step):
        while self.waiting and self.waiting[0][0] <= step:
            _, number = self.waiting.popleft()
            samples = self.samples[number]
            labels = [self.rng.randrange(CLASSES) for _ in range(len(samples))]
            yield samples, torch.tensor(labels, device="cuda")


class Learner:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, CLASSES)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    @torch.no_grad()
    def least_certain(self, stream, count):
        self.model.eval()
        probabilities = self.model(stream).softmax(1)
        entropy = -(probabilities * probabilities.clamp_min(1e-8).log()).sum(1)
        return stream[entropy.topk(count).indices]  # allocates

    def learn(self, samples, labels):
        self.model.train()
        loss = nn.functional.cross_entropy(self.model(samples), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def work_through(learner, desk, step, arrived):
    desk.ask(step, learner.least_certain(arrived, 6))
    for samples, labels in desk.answers(step):
        learner.learn(samples, labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    learner = Learner()
    desk = LabelDesk(delay=3, rng=random.Random(chosen.seed))
    for step in range(chosen.steps):
        arrived = torch.randn(48, FEATURES).cuda()  # step
        work_through(learner, desk, step, arrived)
    print("waiting for labels:", len(desk.waiting))


if __name__ == "__main__":
    main()
