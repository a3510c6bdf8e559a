# SPDX-License-Identifier: Apache-2.0
"""Classifies the trials of an EEG data set batch by batch, and computes the accuracy over all of them at the end."""

import argparse

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, channels=16, samples=64, targets=5):
        super().__init__()
        self.spatial = nn.Linear(channels, 8)
        self.temporal = nn.Linear(8 * samples, 48)
        self.targets = nn.Linear(48, targets)

    def forward(self, trials):
        mixed = self.spatial(trials.transpose(1, 2)).flatten(1)
        return self.targets(torch.relu(self.temporal(mixed)))  # allocates


class Process:
    def __init__(self, classifier):
        self.classifier = classifier
        self.metrics = {"accuracy": lambda outputs, labels: (outputs.argmax(1) == labels).float().mean().item()}

    def get_batch(self, trials=64):
        inputs = torch.randn(trials, 16, 64, device="cuda")
        labels = torch.randint(5, (trials,), device="cuda")  # allocates
        return inputs, labels

    def predict(self, batches):
        self.classifier.eval()
        outputs, targets = [], []
        with torch.no_grad():
            for _ in range(batches):
                inputs, labels = self.get_batch()  # step
                outputs.append(self.classifier(inputs))  # keeps
                targets.append(labels)  # keeps
        return torch.cat(outputs), torch.cat(targets)

    def evaluate(self, batches):
        outputs, labels = self.predict(batches)
        return {name: metric(outputs, labels) for name, metric in self.metrics.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print(Process(Classifier().cuda()).evaluate(chosen.steps))


if __name__ == "__main__":
    main()
