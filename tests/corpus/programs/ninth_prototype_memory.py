# SPDX-License-Identifier: Apache-2.0
"""Learns ten classes of digits two at a time; each class has a prototype, and a memory of pictures that are shown
again."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

CLASSES, PER_TASK, TASK_STEPS, BATCH, MEMORIES, REPLAYED = 10, 2, 14, 10, 20, 10


class ClassMemory:
    def __init__(self, size, features):
        self.prototype = F.normalize(torch.rand(1, features), dim=1).cuda()
        self.qi, self.q = torch.Tensor().cuda(), torch.Tensor().cuda()
        self.qi_len = size
        self.seen = 0

    def update(self, pictures, features, draw):
        self.seen += len(pictures)
        if len(self.qi) == 0:
            self.qi, self.q = pictures, features
        elif len(self.qi) < self.qi_len:
            self.qi, self.q = torch.cat([self.qi, pictures]), torch.cat([self.q, features])
        else:
            for new, at in enumerate(draw.randrange(self.seen) for _ in range(len(pictures))):
                if at < self.qi_len:
                    self.qi[at], self.q[at] = pictures[new], features[new]
        self.qi, self.q = self.qi[-self.qi_len:].detach(), self.q[-self.qi_len:].detach()


class Learner:
    def __init__(self, draw, features=32):
        self.draw, self.features = draw, features
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, features)).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.class_mem = {}

    def replay(self):
        places = [(label, at) for label, memory in self.class_mem.items() for at in range(len(memory.qi))]
        places = self.draw.sample(places, min(REPLAYED, len(places)))
        return [self.class_mem[label].qi[at] for label, at in places], [label for label, _ in places]

    def observe(self, pictures, labels):
        old, old_labels = self.replay()
        for label in labels:
            if label not in self.class_mem:
                self.class_mem[label] = ClassMemory(MEMORIES, self.features)
        shown = torch.cat([pictures, torch.stack(old)]) if old else pictures
        features = F.normalize(self.net(shown), dim=1)
        known = list(self.class_mem)
        prototypes = torch.cat([memory.prototype for memory in self.class_mem.values()])
        targets = torch.tensor([known.index(label) for label in labels + old_labels], device="cuda")
        loss = F.cross_entropy(features @ prototypes.T / 0.1, targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            self.remember(pictures, features[:len(pictures)].detach(), labels)

    def remember(self, pictures, features, labels):
        for label in sorted(set(labels)):
            rows = [row for row, one in enumerate(labels) if one == label]
            memory = self.class_mem[label]
            memory.update(pictures[rows], features[rows], self.draw)
            memory.prototype = F.normalize(0.9 * memory.prototype + 0.1 * features[rows].mean(0, keepdim=True), dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    learner = Learner(draw)
    for step in range(chosen.steps):
        first = step // TASK_STEPS * PER_TASK % CLASSES  # step
        labels = [first + draw.randrange(PER_TASK) for _ in range(BATCH)]
        learner.observe(torch.rand(BATCH, 1, 28, 28, device="cuda"), labels)
    print({label: len(memory.qi) for label, memory in learner.class_mem.items()})


if __name__ == "__main__":
    main()
