# SPDX-License-Identifier: Apache-2.0
"""Trains a classifier with a trainer that calls its hooks, and reports the mean loss of each validation."""

import argparse

import torch
from torch import nn

TRAIN_BATCHES, VALIDATION_BATCHES = 14, 10


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, 10))
        self.validation_step_outputs = []
        self.reported = []

    def training_step(self, rows, labels):
        return nn.functional.cross_entropy(self.layers(rows), labels)

    def validation_step(self, rows, labels):
        loss = nn.functional.cross_entropy(self.layers(rows), labels)  # fills
        self.validation_step_outputs.append(loss)
        return loss

    def on_validation_epoch_end(self):
        epoch_average = torch.stack(self.validation_step_outputs).mean()
        self.reported.append(epoch_average.item())
        self.validation_step_outputs.clear()


class Trainer:
    def __init__(self, max_steps):
        self.left = max_steps

    def batches(self, count):
        for _ in range(min(count, self.left)):
            self.left -= 1  # step
            yield torch.randn(64, 48, device="cuda"), torch.randint(0, 10, (64,), device="cuda")

    def train_batch(self, module, optimizer, batch):
        loss = module.training_step(*batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def fit(self, module):
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        while self.left:
            module.train()
            for batch in self.batches(TRAIN_BATCHES):
                self.train_batch(module, optimizer, batch)
            module.eval()
            with torch.no_grad():
                for batch in self.batches(VALIDATION_BATCHES):
                    module.validation_step(*batch)
            if module.validation_step_outputs:
                module.on_validation_epoch_end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    module = Classifier().cuda()
    Trainer(chosen.steps).fit(module)
    print("of the validations:", module.reported)


if __name__ == "__main__":
    main()
