# SPDX-License-Identifier: Apache-2.0
"""Distils a teacher into a student, and after each pass measures how far the two agree on held-out data."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional


class Metric:
    """Subclasses declare what they gather; reset() brings it back to its default."""

    def __init__(self):
        self._defaults = {}

    def add_state(self, name, default):
        self._defaults[name] = default
        setattr(self, name, copy.copy(default))

    def reset(self):
        for name, default in self._defaults.items():
            setattr(self, name, copy.copy(default))


class Accuracy(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("right", [])

    def update(self, student, teacher, labels):
        self.right.append(student.argmax(1) == labels)

    def compute(self):
        return torch.cat(self.right).float().mean()


class Agreement(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("same", [])
        self.gaps = []

    def update(self, student, teacher, labels):
        self.same.append(student.argmax(1) == teacher.argmax(1))
        gap = (student.softmax(1) - teacher.softmax(1)).abs()  # allocates
        self.gaps.append(gap)  # keeps

    def compute(self):
        return torch.cat(self.same).float().mean() - torch.cat(self.gaps).mean()


class Distiller:
    def __init__(self, classes=100):
        self.teacher = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, classes)).cuda().eval()
        self.student = nn.Sequential(nn.Linear(64, 48), nn.GELU(), nn.Linear(48, classes)).cuda()
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=2e-3)
        self.metrics = {"accuracy": Accuracy(), "agreement": Agreement()}

    def train_pass(self, batches, temperature=2.0):
        for rows, _ in batches:
            with torch.no_grad():
                soft = (self.teacher(rows) / temperature).softmax(1)
            log = (self.student(rows) / temperature).log_softmax(1)
            loss = functional.kl_div(log, soft, reduction="batchmean") * temperature**2
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, batches):
        for metric in self.metrics.values():
            metric.reset()
        for rows, labels in batches:
            student, teacher = self.student(rows), self.teacher(rows)
            for metric in self.metrics.values():
                metric.update(student, teacher, labels)
        return {name: metric.compute().item() for name, metric in self.metrics.items()}


def batches_of(count):
    return [(torch.randn(64, 64, device="cuda"), torch.randint(100, (64,), device="cuda")) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    distiller, training, held_out = Distiller(), batches_of(4), batches_of(3)
    for _ in range(chosen.steps):
        distiller.train_pass(training)  # step
        scores = distiller.evaluate(held_out)
    print(scores)


if __name__ == "__main__":
    main()
