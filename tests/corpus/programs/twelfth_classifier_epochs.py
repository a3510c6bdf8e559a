# SPDX-License-Identifier: Apache-2.0
"""Trains a classifier for some epochs, validates it after each, and reports the accuracies from the models' outputs."""

import argparse

import torch
from torch import nn

TRAINING_BATCHES = 2
VALIDATION_BATCHES = 3


class EpochOutputs:
    """What the model put out in one epoch, with the labels to compare it with."""

    def __init__(self, epoch):
        self.epoch = epoch
        self.logits, self.labels = [], []

    def add(self, logits, labels):
        self.logits.append(logits)
        self.labels.append(labels)

    def accuracy(self):
        hits = [(logits.argmax(1) == labels).float().mean() for logits, labels in zip(self.logits, self.labels)]
        return torch.stack(hits).mean().item()


class Results:
    def __init__(self):
        self.outputs_of_epochs = {}
        self.accuracies = {}

    def save(self, outputs):
        self.outputs_of_epochs[outputs.epoch] = outputs  # keeps
        self.accuracies[outputs.epoch] = outputs.accuracy()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.criterion = nn.CrossEntropyLoss()
        self.results = Results()

    def train(self):
        self.model.train()
        for _ in range(TRAINING_BATCHES):
            rows = torch.randn(64, 96, device="cuda")
            labels = torch.randint(0, 32, (64,), device="cuda")
            self.optimizer.zero_grad()
            self.criterion(self.model(rows), labels).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self, epoch):
        self.model.eval()
        outputs = EpochOutputs(epoch)
        for _ in range(VALIDATION_BATCHES):
            rows = torch.randn(64, 96, device="cuda")
            labels = torch.randint(0, 32, (64,), device="cuda")  # allocates
            logits = self.model(rows)  # allocates
            outputs.add(logits, labels)
        self.results.save(outputs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 32)).cuda()
    trainer = Trainer(model)
    for epoch in range(chosen.steps):
        trainer.train()  # step
        trainer.validate(epoch)
        print(f"epoch {epoch}: accuracy {trainer.results.accuracies[epoch]:.3f}")


if __name__ == "__main__":
    main()
